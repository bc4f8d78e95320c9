import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Exactness } from './exactness.js';
import type { KeyPart } from './state-key.js';

const run = promisify(execFile);

async function check(scenarios: string[], leftOut?: KeyPart): Promise<Exactness[]> {
  const named = scenarios.flatMap((name) => ['--scenario', name]);
  const more = leftOut === undefined ? [] : ['--left-out', leftOut];
  const args = ['scripts/explore.mjs', '--exact', '--json', '--states', '700', ...named, ...more];
  // It ends with 1 where one is not exact.
  const ended = run(process.execPath, args).catch((error: { stdout: string }) => error);
  const { stdout } = await ended;
  const lines = stdout.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Exactness);
}

test('what is taken for one state has one future', async () => {
  const names = ['cancel', 'lost reply and crash, alone', 'two admitters', 'freeze, alone', 'lock, crash'];
  for (const { scenario, compared, inexact } of await check(names)) {
    expect(inexact, scenario).toBeNull();
    expect(compared, scenario).toBeGreaterThan(30);
  }
}, 180_000);

test.each<[KeyPart, string]>([
  ['content', 'lost reply and crash, alone'],
  ['beats', 'lost reply and crash, alone'],
  ['processes', 'two admitters'],
  ['late calls', 'lost reply and crash, alone'],
  ['faults left', 'lost reply'],
])(
  'a key without the %s is found out',
  async (part, scenario) => {
    const [found] = await check([scenario], part);
    expect(found?.inexact).not.toBeNull();
  },
  180_000,
);
