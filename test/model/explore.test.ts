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

test('a rule of the protocol that is left out is missed', async () => {
  const [found] = await explore('--mutants', '--mutant', 'a free lock is taken past its queue');
  expect(found?.['broken']).toBe('table: t2 waits for a out of order');
}, 180_000);
