import type { Logger } from '../log.js';
import type { TaskDefinition } from '../tasks/definition.js';
import type { Holdfast, HoldfastOptions } from '../holdfast.js';
import type { LogLevel } from './logger.js';
import type { GlobalOptions } from './global-options.js';

export interface OpenOptions {
  tasks?: TaskDefinition[];
  /** The least that is logged without --verbose. Default `warn`: what ends soon has an answer, not a log. */
  log?: LogLevel;
}

/** Connects as the command line and the environment say, does `work`, and closes whatever happens. */
export async function withHoldfast(
  global: GlobalOptions,
  options: OpenOptions,
  work: (hf: Holdfast, log: Logger) => Promise<void>,
): Promise<void> {
  const { hf, log } = await openHoldfast(global, options);
  try {
    await work(hf, log);
  } finally {
    await hf.close();
  }
}

/** Loads the library only here, so that help and refusals come at once. */
export async function openHoldfast(
  global: GlobalOptions,
  { tasks = [], log: level = 'warn' }: OpenOptions,
): Promise<{ hf: Holdfast; log: Logger }> {
  const { createHoldfast } = await import('../holdfast.js');
  const { createLogger } = await import('./logger.js');
  const logger = await createLogger(global.verbose === true ? 'debug' : level);
  const hf = await createHoldfast({ ...placeOptions(global), tasks, logger });
  return { hf, log: logger };
}

/** Only what was given: the library reads the environment for the rest. */
export function placeOptions(global: GlobalOptions): HoldfastOptions {
  const { databaseUrl, redisUrl, namespace, embedded, dataDir } = global;
  return {
    ...(databaseUrl !== undefined && { database: databaseUrl }),
    ...(redisUrl !== undefined && { redis: redisUrl }),
    ...(namespace !== undefined && { namespace }),
    ...(embedded !== undefined && { embedded }),
    ...(dataDir !== undefined && { dataDir }),
  };
}
