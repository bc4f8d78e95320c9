import type { DemoResult } from './demo.js';
import { locksText } from './demo-crash-holds.js';
import { durationText } from './texts.js';
import { textTable } from './text-table.js';

/** What a demo killed, or left behind, in the middle of its job. */
export interface Crash {
  what: 'child process' | 'whole process' | 'worker process' | 'orphan';
  /** How many locks it was seen to hold then. */
  locks: number;
  /** How long until all of them were free, or their tasks had ended or ran again; null where that did not come. */
  ms: number | null;
}

export type Recovered = Crash & { ms: number };

const crashesOfDemo = 3;

const meanings: Record<Crash['what'], string> = {
  'child process': 'a child process, killed in its task',
  'whole process': 'the whole process, killed with all it ran',
  'worker process': 'a worker process, killed with all it ran',
  orphan: 'an orphan: an owner without a worker row',
};

/** The same result, ok only where everything was recovered. */
export function withCrashes<Result extends DemoResult>(result: Result, crashes: readonly Crash[]): Result {
  const problems = crashes
    .filter(({ ms }) => ms === null)
    .map(({ what, locks }) => `${locksText(locks)} not recovered from ${meanings[what]}`);
  if (crashes.length < crashesOfDemo)
    problems.push(`${crashesOfDemo - crashes.length} crashes did not happen`);
  const recovered = crashes.filter((crash): crash is Recovered => crash.ms !== null);
  return {
    ...result,
    ok: result.ok && problems.length === 0,
    problems: [...result.problems, ...problems],
    recovered,
  };
}

export function recoveredText(recovered: readonly Recovered[]): string {
  return textTable(
    [
      { heading: 'WHAT WAS LOST' },
      { heading: 'LOCKS HELD', align: 'right' },
      { heading: 'RECOVERED IN', align: 'right' },
    ],
    recovered.map(({ what, locks, ms }) => [meanings[what], String(locks), durationText(ms)]),
  );
}
