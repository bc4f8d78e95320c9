import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Fleet } from '../fleet.js';
import type { ProcessLife } from '../history.js';
import type { Seeded } from '../seeded.js';
import type { ReplicatedPostgres } from '../replicated-postgres.js';
import type { Postgres, StandaloneRedis } from '../servers.js';
import type { SentinelRedis } from '../sentinel.js';

/** On which servers the stores run. */
export interface Stores {
  redis: 'standalone' | 'sentinel';
  postgres: 'standalone' | 'standby';
}

/** What a fault can reach. */
export interface System {
  namespace: string;
  ttlMs: number;
  fleet: Fleet;
  postgres: Postgres | ReplicatedPostgres;
  redis: StandaloneRedis | SentinelRedis;
  /** Connections past every proxy. */
  pool: pg.Pool;
  /** To whichever server is the master. */
  direct: Redis;
  /** Ids of tasks that were dispatched of late. */
  recentTasks: (count: number) => string[];
  /** The command line of the build under test. */
  holdfast: (args: string[]) => Promise<void>;
  /** Ends early, without an error, when the run is given up. */
  pause: (ms: number) => Promise<void>;
}

/** All that is decided by the seed. */
export interface PlannedFault {
  kind: string;
  atMs: number;
  /** The name of a process, or empty. */
  target: string;
  ms: number;
  /** The process stays away so long after it. */
  downMs: number;
}

export interface FaultKind {
  name: string;
  /** How often it comes, in parts of the sum. */
  weight: number;
  hits: 'worker' | 'process' | 'everybody';
  /** How long it lasts: both ends included. */
  ms: (ttlMs: number) => readonly [number, number];
  /** Where it is possible at all; everywhere where it is not given. */
  redis?: Stores['redis'];
  postgres?: Stores['postgres'];
  /** Faults of one group, and one target, never overlap. */
  group?: 'kill' | 'frozen' | 'link to postgres' | 'link to redis' | 'postgres' | 'redis' | 'queue';
  /** It is over, and what it broke is whole again, when this resolves. */
  inflict: (system: System, fault: PlannedFault) => Promise<void>;
}

export const moment = (): readonly [number, number] => [0, 0];

/** Half of them shorter than the TTL, and half longer. */
export const aboutTheTtl = (ttlMs: number): readonly [number, number] => [ttlMs / 4, ttlMs * 1.75];

/** What is down while it restarts. */
export const shortly = (): readonly [number, number] => [50, 1_500];

/** All who run now reach PostgreSQL by no means as long as `outage` takes. */
export async function withoutPostgres(
  lives: ProcessLife[],
  outage: () => Promise<void>,
  clock: () => number,
): Promise<void> {
  const spans = lives.map((life) => {
    const span = { from: clock(), to: Number.MAX_SAFE_INTEGER };
    life.withoutPostgres.push(span);
    return span;
  });
  try {
    await outage();
  } finally {
    for (const span of spans) span.to = clock();
  }
}

export function randomDownMs(random: Seeded, ttlMs: number): number {
  return random.chance(50) ? random.between(100, 1_000) : random.between(ttlMs, 3 * ttlMs);
}
