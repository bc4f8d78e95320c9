import { afterAll, expect, test } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { waitUntil } from '../helpers/wait-until.js';
import { processesWith, signal } from './processes.js';

const runner = fileURLToPath(new URL('run.mjs', import.meta.url));
const startLimitMs = 120_000;
const scratch = temporaryFolder('interrupted');
// PostgreSQL runs as another user.
chmodSync(scratch, 0o711);
afterAll(() => removeFolder(scratch));

interface Trial {
  /** What it makes in place of the machine's temporary folder. */
  folder: string;
  /** Whatever it has written as errors so far. */
  errors: () => string;
  kill: (name: NodeJS.Signals) => void;
  /** Its status, and its standard output. */
  ended: Promise<{ status: number | null; output: string }>;
  left: () => string[];
}

function start(args: string[]): Trial {
  const folder = mkdtempSync(join(scratch, 'trial-'));
  chmodSync(folder, 0o711);
  const env = { ...process.env, TMPDIR: folder, CHAOS_TRIAL: folder };
  const child = spawn(process.execPath, [runner, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [exited, output] = [once(child, 'exit'), text(child.stdout)];
  const ended = async (): Promise<{ status: number | null; output: string }> => {
    const [status] = (await exited) as [number | null];
    return { status, output: await output };
  };
  const left = (): string[] => [...processesOf(folder).map(String), ...readdirSync(folder)];
  return { folder, errors: () => errors, kill: (name) => void child.kill(name), ended: ended(), left };
}

/** PostgreSQL writes over its environment, and has the folder in its arguments. */
function processesOf(folder: string): number[] {
  const named = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(folder));
  return [...new Set([...processesWith('CHAOS_TRIAL', folder), ...named.map(Number)])];
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test.each([
  {
    when: 'while it works',
    name: 'SIGINT' as const,
    begun: ({ errors }: Trial) => /[1-9]\d* operations/.test(errors()),
  },
  {
    when: 'while it starts its servers',
    name: 'SIGTERM' as const,
    begun: ({ folder }: Trial) =>
      readdirSync(folder).some((entry) => entry.startsWith('holdfast-chaos-')) &&
      processesOf(folder).length > 1,
  },
])(
  'interrupted by $name $when, it ends with 1, judges nothing and leaves nothing',
  async ({ name, begun }) => {
    const trial = start(['--minutes', '5', '--seed', '3']);
    try {
      await waitUntil(() => begun(trial), 'it has begun', startLimitMs);
      // As from npm, which passes on what the keyboard has sent to all.
      trial.kill(name);
      await delay(100);
      trial.kill(name);
      const { status, output } = await trial.ended;
      expect(trial.errors()).toContain('Interrupted: nothing was judged.');
      expect([status, output]).toEqual([1, '']);
      await waitUntil(() => trial.left().length === 0, 'nothing is left').catch(() => {});
      expect(trial.left()).toEqual([]);
    } finally {
      for (const pid of processesOf(trial.folder)) signal(pid, 'SIGKILL');
    }
  },
);

test('wrong usage: a sentence and 2, without a server', async () => {
  const { ended, errors, left } = start(['--workers', '0']);
  expect(await ended).toEqual({ status: 2, output: '' });
  expect(errors()).toMatch(/^--workers takes a whole number, 1 or more.*\n$/);
  expect(left()).toEqual([]);
});
