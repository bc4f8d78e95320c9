import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ChaosOptions } from './chaos.js';
import { possibleKinds } from './nemesis.js';

export interface Asked {
  runs: Omit<ChaosOptions, 'signal' | 'progress'>[];
  json: boolean;
  /** A file to append the reports to. */
  out: string | null;
}

const built = fileURLToPath(new URL('../../dist', import.meta.url));

/** What `--ci` runs, within about a minute. */
const ciRuns = [
  { seed: 1, minutes: 0.25 },
  { seed: 8, minutes: 0.25, stores: { redis: 'sentinel', postgres: 'standby' } as const },
];

/** Throws, with a sentence for the user, where it is not what can be run. */
export function readOptions(args: string[]): Asked {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      redis: { type: 'string', default: 'standalone' },
      postgres: { type: 'string', default: 'standalone' },
      workers: { type: 'string', default: '4' },
      rate: { type: 'string', default: '10' },
      long: { type: 'string', default: '5' },
      build: { type: 'string', default: built },
      faults: { type: 'string' },
      out: { type: 'string' },
      keep: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      ci: { type: 'boolean', default: false },
    },
  });
  const { redis, postgres, json, keep, ci } = values;
  if (redis !== 'standalone' && redis !== 'sentinel') {
    throw new Error(`--redis is "standalone" or "sentinel"; got "${redis}".`);
  }
  if (postgres !== 'standalone' && postgres !== 'standby') {
    throw new Error(`--postgres is "standalone" or "standby"; got "${postgres}".`);
  }
  const stores = { redis, postgres } as const;
  const build = resolve(values.build);
  if (!existsSync(join(build, 'index.js'))) throw new Error('There is no build: npm run build.');
  const only = values.faults?.split(',').map((name) => name.trim()) ?? null;
  possibleKinds(stores, only);
  const workload = {
    perSecond: numberOf('--rate', values.rate, { moreThan: 0, most: 1_000 }),
    longPercent: numberOf('--long', values.long, { least: 0, most: 100 }),
  };
  const workers = integerOf('--workers', values.workers, { least: 1, most: 50 });
  const common = { stores, build, workload, workers, only, keep: keep ? 'always' : 'violation' } as const;
  const seed = integerOf('--seed', values.seed, { least: 0, most: Number.MAX_SAFE_INTEGER });
  const minutes = numberOf('--minutes', values.minutes, { moreThan: 0, most: 1_440 });
  return {
    json,
    out: values.out ?? null,
    runs: (ci ? ciRuns : [{ seed, minutes }]).map((run) => ({ ...common, ...run })),
  };
}

interface Limits {
  least?: number;
  moreThan?: number;
  most: number;
}

export function numberOf(flag: string, text: string, limits: Limits, what: string = 'a number'): number {
  const { least = -Infinity, moreThan = -Infinity, most } = limits;
  const number = text.trim() === '' ? NaN : Number(text);
  if (number >= least && number > moreThan && number <= most) return number;
  const from = limits.least === undefined ? `more than ${moreThan}` : `${least} or more`;
  throw new Error(`${flag} takes ${what}, ${from}, ${most} at most; got "${text}".`);
}

export function integerOf(flag: string, text: string, limits: Limits): number {
  const number = numberOf(flag, text, limits, 'a whole number');
  if (!Number.isSafeInteger(number)) throw new Error(`${flag} takes a whole number; got "${text}".`);
  return number;
}
