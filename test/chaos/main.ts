import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chaos, type ChaosOptions } from './chaos.js';
import { interruption } from './interruption.js';
import { summaryOf, textOf, type Summary } from './report.js';

const built = fileURLToPath(new URL('../../dist', import.meta.url));

/** What `--ci` runs, within about a minute. */
const ciRuns = [
  { seed: 1, minutes: 0.25 },
  { seed: 2, minutes: 0.25 },
];

/** Resolves with the exit status: 0 all is well, 1 a violation, 2 wrong usage. */
export async function main(args: string[]): Promise<number> {
  const options = read(args);
  if (options === null) return 2;
  const { runs, json } = options;
  const summaries: Summary[] = [];
  for (const run of runs) {
    const result = await chaos(run);
    if (result.interrupted) {
      console.error('Interrupted: nothing was judged.');
      return 1;
    }
    const summary = summaryOf(result);
    summaries.push(summary);
    if (!json) console.log(textOf(summary));
    if (result.folder !== null) console.error(`Logs and journal: ${result.folder}`);
  }
  if (json) console.log(JSON.stringify(summaries.length === 1 ? summaries[0] : summaries));
  return summaries.every(({ ok }) => ok) ? 0 : 1;
}

function read(args: string[]): { runs: ChaosOptions[]; json: boolean } | null {
  try {
    const { values } = parseArgs({
      args,
      options: {
        minutes: { type: 'string', default: '1' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        redis: { type: 'string', default: 'standalone' },
        workers: { type: 'string', default: '4' },
        rate: { type: 'string', default: '10' },
        long: { type: 'string', default: '5' },
        build: { type: 'string', default: built },
        faults: { type: 'string' },
        keep: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        ci: { type: 'boolean', default: false },
      },
    });
    const { redis, build, json, keep, ci } = values;
    if (redis !== 'standalone' && redis !== 'sentinel')
      throw new Error('--redis is "standalone" or "sentinel".');
    if (!existsSync(join(build, 'index.js'))) throw new Error('There is no build: npm run build.');
    const common: Omit<ChaosOptions, 'seed' | 'minutes'> = {
      ...{
        redis,
        build,
        keep: keep ? 'always' : 'violation',
        signal: interruption(),
        progress: (line: string) => console.error(line),
      },
      workers: numberOf('--workers', values.workers),
      workload: { perSecond: numberOf('--rate', values.rate), longPercent: numberOf('--long', values.long) },
      only: values.faults?.split(',') ?? null,
    };
    const one = { seed: numberOf('--seed', values.seed), minutes: numberOf('--minutes', values.minutes) };
    return { json, runs: (ci ? ciRuns : [one]).map((run) => ({ ...common, ...run })) };
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}

function numberOf(flag: string, text: string): number {
  const number = Number(text);
  if (text === '' || !Number.isFinite(number) || number < 0)
    throw new Error(`${flag} takes a number; got "${text}".`);
  return number;
}
