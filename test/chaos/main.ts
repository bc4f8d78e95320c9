import { appendFileSync } from 'node:fs';
import { chaos } from './chaos.js';
import { interruption } from './interruption.js';
import { readOptions, type Asked } from './options.js';
import { summaryOf, textOf, type Summary } from './report.js';

/** Resolves with the exit status: 0 all is well, 1 a violation, or not judged, 2 wrong usage. */
export async function main(args: string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) return 2;
  const { runs, json, out } = asked;
  const signal = interruption();
  const summaries: Summary[] = [];
  for (const run of runs) {
    const result = await chaos({ ...run, signal, progress: (line) => console.error(line) });
    if (result === null) {
      console.error('Interrupted: nothing was judged.');
      return 1;
    }
    const summary = summaryOf(result, args);
    summaries.push(summary);
    if (!json) console.log(textOf(summary));
    if (out !== null) appendFileSync(out, `${textOf(summary)}\n\n`);
    if (result.folder !== null) console.error(`Logs and journal: ${result.folder}`);
  }
  if (json) console.log(JSON.stringify(summaries.length === 1 ? summaries[0] : summaries));
  return summaries.every(({ ok }) => ok) ? 0 : 1;
}

function read(args: string[]): Asked | null {
  try {
    return readOptions(args);
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}
