import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** In a process of its own: the explorer takes the timers and clocks of the whole process into its hands. */
async function explore(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(process.execPath, ['scripts/explore.mjs', '--json', ...args]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('every state of the quick scenarios keeps what is promised', async () => {
  const found = await explore('--quick');
  expect(found.length).toBeGreaterThan(3);
  for (const one of found) expect(one).toMatchObject({ complete: true, violation: null });
}, 180_000);

const missed = {
  'a claim does not compare epochs': 'held while it runs: w1 runs t1, entry 1, and nobody has its hold',
  'a give-back does not ask whether its worker is reaped':
    'late writers: giveBackTasks of worker 1 for t1, entry 1, was accepted, although it is reaped',
  'a free lock is taken past its queue': 'table: t2 waits for a out of order',
  'the table takes an older pass': 'reserved for nothing: t1 has a hold, and is over, or has another entry',
  'the table does not ask who the server is': 'never two: w1 runs t1 while w2 runs t2',
  'the lock that waits outlives its dead requester': 'nothing is left: the row of p1#1 stays',
  'an insert of what runs at once does not compare epochs':
    'held while it runs: p1 runs p1#1, entry 1, and nobody has its hold',
  'a fenced worker claims on': 'the dead take nothing: w2 asks to claim, and cannot prove that it lives',
};

test('a rule of the protocol that is left out is missed', async () => {
  const found = await explore('--mutants', ...Object.keys(missed).flatMap((name) => ['--mutant', name]));
  expect(Object.fromEntries(found.map(({ mutant, broken }) => [mutant, broken]))).toEqual(missed);
}, 180_000);

test('of two guards either is enough, and without both something breaks', async () => {
  const [found] = await explore('--mutants', '--mutant', 'a comparison does not wait for claims under way');
  expect(found).toMatchObject({
    broken: null,
    brokenWithBoth: "held while it runs: w1 runs t3, entry 1, and its hold is nobody's",
  });
}, 180_000);
