import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readJournal } from '../helpers/journal-file.js';
import { startProxy } from '../helpers/tcp-proxy.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';

const ttlMs = 2_000;
const args = ['--ttl', `${ttlMs}ms`, '--concurrency', '10'];

async function begun(place: OutagePlace, ids: string[]): Promise<void> {
  const allRun = async (): Promise<boolean> => {
    const tasks = await Promise.all(ids.map((id) => place.hf.tasks.get(id)));
    return tasks.every(({ progress }) => progress.length > 0);
  };
  await waitUntil(allRun, 'they run', 30_000);
}

/** Of that kind, and one behind each. */
async function holdersAndOthers(place: OutagePlace, names: string[]): Promise<string[]> {
  const exclusive = (n: number): { exclusive: string[] } => ({ exclusive: [`r${n}`] });
  const payload = { until: place.gate };
  const held = await place.hf.dispatchMany(names.map((name, n) => ({ name, payload, ...exclusive(n) })));
  const ids = held.map(({ id }) => id);
  await begun(place, ids);
  await place.hf.dispatchMany(names.map((_, n) => ({ name: 'work', payload: { ms: 50 }, ...exclusive(n) })));
  return ids;
}

function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

test.concurrent('a worker that alone is cut off from PostgreSQL has stopped all of its own before others begin', async (context) => {
  const place = await outagePlace(context);
  const own = await startProxy(place.direct.database);
  context.onTestFinished(() => own.stop());
  const cut = await place.worker([...args, '--name', 'a'], { HOLDFAST_DATABASE_URL: own.url });
  await holdersAndOthers(place, ['holds', 'holds', 'holds in a child', 'ignores SIGTERM in a child']);
  await place.worker([...args, '--name', 'b']);
  own.silence();
  const { status } = await cut.ended;
  // By itself or, where it was too slow to say why, by its heartbeat's SIGKILL.
  expect(status ?? 1).toBe(1);
  place.openGate();
  await place.end({ unfinished: 'allowed' });
});

test.concurrent('a frozen worker: its children die at the deadline, and it ends first thing on waking', async (context) => {
  const place = await outagePlace(context);
  const frozen = await place.worker([...args, '--name', 'a']);
  const pid = frozen.child.pid ?? 0;
  await holdersAndOthers(place, ['holds in a child', 'ignores SIGTERM in a child']);
  const children = childrenOf(pid);
  expect(children.length).toBeGreaterThanOrEqual(2);
  frozen.child.kill('SIGSTOP');
  const frozenAt = performance.now();
  await waitUntil(() => !children.some(isAlive), 'its children are gone', 2 * ttlMs);
  expect(performance.now() - frozenAt).toBeLessThan(ttlMs + 500);
  await place.worker([...args, '--name', 'b']);
  const othersRan = async (): Promise<boolean> => ((await place.states())['completed'] ?? 0) >= 2;
  await waitUntil(othersRan, 'those behind them ran', 30_000);
  const woken = performance.now();
  frozen.child.kill('SIGCONT');
  await frozen.ended;
  expect(performance.now() - woken).toBeLessThan(2_000);
  place.openGate();
  await place.end({ unfinished: 'allowed' });
});

test.concurrent('a handler that spins for three TTLs keeps its locks', async (context) => {
  const place = await outagePlace(context);
  const worker = await place.worker([...args, '--name', 'a']);
  const { id } = await place.hf.dispatch('spins', { ms: 3 * ttlMs }, { exclusive: ['r'] });
  const hasBegun = (): boolean => readJournal(place.journal).some(({ task }) => task === id);
  await waitUntil(hasBegun, 'it spins', 30_000);
  await place.worker([...args, '--name', 'b']);
  await place.hf.dispatch('work', {}, { exclusive: ['r'] });
  await place.end();
  expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', entry: 1, attempt: 1 });
  expect(worker.stderr).not.toContain('fenced');
});
