import type { Command } from 'commander';
import type { TaskDefinition } from '../tasks/definition.js';
import type { Holdfast, HoldfastOptions } from '../holdfast.js';
import { createHoldfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import { globalOptionsOf } from './global-options.js';
import { createLogger } from './logger.js';

/** Connects as the command line and the environment say, does `work`, and closes whatever happens. */
export async function withHoldfast(
  command: Command,
  options: { tasks?: TaskDefinition[] },
  work: (hf: Holdfast, global: GlobalOptions) => Promise<void>,
): Promise<void> {
  const global = globalOptionsOf(command);
  const hf = await createHoldfast({ ...holdfastOptions(global), ...options });
  try {
    await work(hf, global);
  } finally {
    await hf.close();
  }
}

/** Only what was given: the library reads the environment for the rest. */
export function holdfastOptions(global: GlobalOptions): HoldfastOptions {
  const { databaseUrl, redisUrl, namespace, embedded, dataDir, verbose } = global;
  return {
    ...(databaseUrl !== undefined && { database: databaseUrl }),
    ...(redisUrl !== undefined && { redis: redisUrl }),
    ...(namespace !== undefined && { namespace }),
    ...(embedded !== undefined && { embedded }),
    ...(dataDir !== undefined && { dataDir }),
    logger: createLogger({ verbose: verbose ?? false }),
  };
}
