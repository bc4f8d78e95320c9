import { parseArgs } from 'node:util';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { brokenBuilds, makeBrokenBuild, type BrokenBuild } from './broken-builds.js';
import { chaos } from './chaos.js';
import { interruption } from './interruption.js';
import { integerOf, numberOf } from './options.js';

interface Trial {
  name: string;
  /** The seed that showed it; null: none of them. */
  seed: number | null;
  seconds: number;
  /** Which properties were violated, and how often. */
  violated: Record<string, number>;
}

/** Whether the harness finds out: each broken build is run with one seed after the other, until a violation shows. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      seeds: { type: 'string', default: '4' },
      minutes: { type: 'string', default: '0.5' },
    },
  });
  const [mostSeeds, minutes] = [
    integerOf('--seeds', values.seeds, { least: 1, most: 1_000 }),
    numberOf('--minutes', values.minutes, { moreThan: 0, most: 60 }),
  ];
  const signal = interruption();
  const trials: Trial[] = [];
  for (const build of brokenBuilds.filter(({ name }) => name.includes(values.only ?? ''))) {
    if (signal.aborted) break;
    const trial = await tried(build, mostSeeds, minutes, signal);
    trials.push(trial);
    console.log(textOf(trial));
  }
  const caught = trials.filter(({ seed }) => seed !== null).length;
  console.log(`${caught} of ${trials.length} were found out.`);
  return caught === trials.length && !signal.aborted ? 0 : 1;
}

async function tried(
  build: BrokenBuild,
  seeds: number,
  minutes: number,
  signal: AbortSignal,
): Promise<Trial> {
  const folder = temporaryFolder('broken');
  const started = performance.now();
  const trial = (seed: number | null, violated: Record<string, number>): Trial => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    return { name: build.name, seed, seconds, violated };
  };
  try {
    const dist = makeBrokenBuild(build, folder);
    for (let seed = 1; seed <= seeds && !signal.aborted; seed++) {
      const stores = { redis: 'standalone', postgres: 'standalone' } as const;
      const fleet = { stores, workers: build.workers ?? 4, keep: 'never' } as const;
      const workload = { perSecond: 10, longPercent: 5, ...build.work };
      const under = { workload, seed, minutes, build: dist, only: build.faults ?? null };
      const result = await chaos({ ...fleet, ...under, signal, progress: () => {} });
      const violated: Record<string, number> = {};
      for (const { property } of result?.violations ?? []) violated[property] = (violated[property] ?? 0) + 1;
      if (build.breaks.some((property) => property in violated)) return trial(seed, violated);
    }
    return trial(null, {});
  } finally {
    removeFolder(folder);
  }
}

function textOf({ name, seed, seconds, violated }: Trial): string {
  const counts = Object.entries(violated).map(([property, count]) => `${property} (${count})`);
  const found = seed === null ? 'NOT FOUND' : `seed ${seed}: ${counts.join(', ')}`;
  return `${name.padEnd(46)} ${String(seconds).padStart(4)} s  ${found}`;
}
