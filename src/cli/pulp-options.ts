import type { Command } from 'commander';
import { NotConfigured } from '../errors.js';
import type { Mode } from '../pulp/scripts.js';
import type { OpenPulp, Pulp } from '../pulp/open-pulp.js';
import type { GlobalOptions } from './global-options.js';

/** What both commands for pulpcore take. */
export interface PulpFlags {
  redis?: string;
  database?: string;
  allowScan?: boolean;
}

export function addPulpOptions(command: Command): Command {
  return command
    .option('--redis <url>', "Pulp's Redis; the same as --redis-url")
    .option('--database <url>', "Pulp's PostgreSQL, which is only read; the same as --database-url")
    .option(
      '--allow-scan',
      'find locks in no registry too, by going over all keys; every 15 minutes at most',
    );
}

export interface PulpPlace {
  flags: PulpFlags;
  global: GlobalOptions;
  mode: Mode;
  /** `redis`: without a database, nobody is known to be alive or dead. */
  needs: 'redis' | 'both';
}

/** Connects to Pulp's servers, does `work`, and closes whatever happens. */
export async function withPulp(place: PulpPlace, work: (pulp: Pulp) => Promise<void>): Promise<void> {
  const pulp = await open(place);
  try {
    await work(pulp);
  } finally {
    await pulp.close();
  }
}

/** Loads the room only here, so that help and refusals come at once. */
async function open({ flags, global, mode, needs }: PulpPlace): Promise<OpenPulp> {
  if (global.embedded === true) throw new NotConfigured('Pulp has servers: leave out --embedded.');
  const redisUrl = firstOf(flags.redis, global.redisUrl, process.env['HOLDFAST_REDIS_URL']);
  const databaseUrl = firstOf(flags.database, global.databaseUrl, process.env['HOLDFAST_DATABASE_URL']);
  if (redisUrl === undefined) {
    throw new NotConfigured("Give Pulp's Redis with --redis (or HOLDFAST_REDIS_URL): its REDIS_URL.");
  }
  if (databaseUrl === undefined && needs === 'both') {
    throw new NotConfigured(
      "Give Pulp's PostgreSQL with --database (or HOLDFAST_DATABASE_URL): only there is told who is alive.",
    );
  }
  const { openPulp } = await import('../pulp/open-pulp.js');
  const { createLogger } = await import('./logger.js');
  const log = await createLogger(global.verbose === true ? 'debug' : 'warn');
  return await openPulp({ redisUrl, databaseUrl: databaseUrl ?? null, mode, log });
}

/** An empty variable counts as one that is not set. */
function firstOf(...values: (string | undefined)[]): string | undefined {
  return values.find((value) => value !== undefined && value !== '');
}
