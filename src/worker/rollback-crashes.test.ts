import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processLives } from '../../test/helpers/process-lives.js';
import { sharedPostgresUrl, sharedRedisUrl } from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { sweep } from '../../test/worker/sweep.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { openEpoch } from '../recovery/open-epoch.js';
import { settleLostTasks } from '../recovery/settle-lost-tasks.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';

const fixture = fileURLToPath(new URL('../../test/worker/killed-worker.mjs', import.meta.url));
const taskFile = fileURLToPath(new URL('./child-fixtures/rolling-back.mjs', import.meta.url));
let place: Place;
let folder: string;
let journal: string;
let killed: ChildProcess | null = null;

beforeEach(async () => {
  place = await serverPlace();
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
  journal = join(folder, 'journal');
  for (const one of await loadTaskFiles([taskFile])) place.definitions.set(one.name, one);
});
afterEach(async () => {
  killed?.kill('SIGKILL');
  await place.close();
  rmSync(folder, { recursive: true });
});

function lines(): string[] {
  return readFileSync(journal, 'utf8').trimEnd().split('\n');
}

/** The journal without process ids. */
function story(): string[] {
  return lines().map((line) => line.replace(/ \d+$/, ''));
}

/** A worker in a process of its own, that claims. */
async function startKilled(moment: 'move' | 'later', isolation: 'inline' | 'child'): Promise<string> {
  const urls = [sharedPostgresUrl(), sharedRedisUrl()];
  const args = [fixture, moment, place.namespace, ...urls, taskFile, isolation];
  killed = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, STAYS: '1' },
  });
  const [incarnation] = (await once(killed.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return incarnation.toString().trim();
}

async function dispatch(): Promise<{ id: string; behind: string }> {
  const { id } = await place.dispatcher.dispatch('failing', { journal, stays: true });
  const behind = await place.dispatcher.dispatch('behind', { journal });
  return { id, behind: behind.id };
}

/** Kills the worker once its roll-back of the task is under way, and the child that it runs in has died too. */
async function killInRollback(id: string): Promise<void> {
  const stays = async (): Promise<boolean> => {
    const row = await place.store.getTask(id);
    return row?.state === 'rolling_back' && row.progress.includes('stays');
  };
  await waitUntil(stays, 'the roll-back is under way', 20_000);
  const pid = Number(lines().at(-1)?.split(' ')[1]);
  const exited = once(killed as ChildProcess, 'exit');
  killed?.kill('SIGKILL');
  await exited;
  await waitUntil(() => !processLives(pid), 'the process of the roll-back is gone');
}

test.each(['by a sweep', 'by a new epoch'])(
  'a worker killed between a failure and its roll-back leaves it to another, %s',
  async (how) => {
    const incarnation = await startKilled('move', 'inline');
    const { id, behind } = await dispatch();
    await once(killed as ChildProcess, 'exit');
    const row = await place.store.getTask(id);
    expect(row).toMatchObject({ state: 'rolling_back', entry: 2, worker: null, error: { message: 'boom' } });
    await startWorker(place);
    if (how === 'by a sweep') await sweep(place, { name: 'killed', incarnation });
    else {
      await place.store.reapWorker(incarnation);
      await settleLostTasks(place, { name: 'killed', incarnation });
      await openEpoch(place, 'always');
    }
    expect(await inState(place, id, 'failed')).toMatchObject({ crashes: 0, error: { message: 'boom' } });
    await inState(place, behind, 'completed');
    expect(story()).toEqual(['run', 'rollback', 'rolled back', 'behind']);
    await holdsGone(place, id, behind);
  },
);

test.each([
  ['inline', 'by a sweep'],
  ['child', 'by a sweep'],
  ['child', 'by a new epoch'],
] as const)(
  'a worker killed in the middle of a roll-back (%s) leaves it to another, %s',
  async (isolation, how) => {
    const incarnation = await startKilled('later', isolation);
    const { id, behind } = await dispatch();
    await killInRollback(id);
    await startWorker(place);
    if (how === 'by a sweep') await sweep(place, { name: 'killed', incarnation });
    else {
      await place.store.reapWorker(incarnation);
      await settleLostTasks(place, { name: 'killed', incarnation });
      await openEpoch(place, 'always');
    }
    const row = await inState(place, id, 'failed', 20_000);
    expect(row).toMatchObject({ entry: 3, crashes: 1, attempt: 1, error: { message: 'boom' } });
    expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'rollback-lost', 'rolled-back']);
    await inState(place, behind, 'completed');
    expect(story()).toEqual(['run', 'rollback', 'rollback', 'rolled back', 'behind']);
    await holdsGone(place, id, behind);
  },
);

test('where nobody knows the task its roll-back waits, keeps the resource, and ends when its time is over', async () => {
  const incarnation = await startKilled('later', 'child');
  const { id, behind } = await dispatch();
  await killInRollback(id);
  // Nobody serves the lane: it waits, and ends when its time is over, whoever admits.
  await sweep(place, { name: 'killed', incarnation });
  const definitions = new Map([...place.definitions].filter(([name]) => name === 'behind'));
  await startWorker(place, { definitions });
  const text = `UPDATE "${place.namespace}".tasks SET rollback_until = now() WHERE id = $1`;
  expect((await place.store.getTask(behind))?.state).toBe('waiting');
  await place.database.query(text, [id]);
  expect((await inState(place, id, 'failed')).error).toMatchObject({ reason: 'rollback-not-run' });
  await inState(place, behind, 'completed');
  await holdsGone(place, id, behind);
});

test('a child that does not heed the end of its time is killed', async () => {
  await startWorker(place, { taskFiles: [taskFile], isolation: 'child' });
  const { id } = await place.dispatcher.dispatch('deaf-rollback');
  expect((await inState(place, id, 'failed', 20_000)).error).toMatchObject({
    message: 'boom',
    ...{ reason: 'rollback-timed-out', rollback: { code: 'Timeout' } },
  });
  await holdsGone(place, id);
});
