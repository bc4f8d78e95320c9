import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processLives } from '../../test/helpers/process-lives.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';

const taskFiles = [fileURLToPath(new URL('./child-fixtures/tasks.mjs', import.meta.url))];
const inChildren = { taskFiles, isolation: 'child' } as const;
let place: Place;

beforeEach(async () => {
  place = await serverPlace();
  for (const definition of await loadTaskFiles(taskFiles)) place.definitions.set(definition.name, definition);
});
afterEach(async () => {
  await place.close();
});

function limitTime(name: string, timeoutMs: number): void {
  const definition = place.definitions.get(name);
  if (definition === undefined) throw new Error(`No definition ${name}.`);
  place.definitions.set(name, { ...definition, policies: { ...definition.policies, timeoutMs } });
}

test('a task runs in a child, with its context, and its progress and result come back', async () => {
  await startWorker(place, inChildren);
  const pid = await place.dispatcher.dispatch('pid');
  const context = await place.dispatcher.dispatch('context');
  const report = await place.dispatcher.dispatch('report');
  expect((await inState(place, pid.id, 'completed')).result).not.toBe(process.pid);
  const row = await inState(place, context.id, 'completed');
  expect(row.result).toEqual({ id: context.id, attempt: 1, fence: row.fence, aborted: false });
  expect((await inState(place, report.id, 'completed')).progress).toEqual([{ done: 1 }, { done: 2 }]);
});

test('the start of a child does not count as time of its task', async () => {
  const slow = fileURLToPath(new URL('./child-fixtures/slow-at-import.mjs', import.meta.url));
  limitTime('echo', 2_000);
  await startWorker(place, { taskFiles: [slow], isolation: 'child' });
  const { id } = await place.dispatcher.dispatch('echo', 'quick');
  expect(await inState(place, id, 'completed')).toMatchObject({ result: 'quick', attempt: 1 });
});

test('a child dispatches through its parent', async () => {
  await startWorker(place, inChildren);
  const { id } = await place.dispatcher.dispatch('dispatch');
  const { result } = await inState(place, id, 'completed');
  const [child, parent] = result as [string, string];
  expect(parent).toBe(id);
  expect(await inState(place, child, 'completed')).toMatchObject({ parent: id, exclusive: ['a', 'b'] });
});

test('an attempt whose child was killed has failed, with the reason', async () => {
  await startWorker(place, inChildren);
  const { id } = await place.dispatcher.dispatch('kill-self');
  const { crashes, error } = await inState(place, id, 'failed');
  expect(crashes).toBe(1);
  expect(error).toEqual({
    code: 'ChildDied',
    message: 'The child process was ended by SIGKILL in the middle of the attempt.',
    reason: 'child-died',
  });
});

test('a task that kills its child again and again fails as crashed, and can be sent round again by hand', async () => {
  const definition = place.definitions.get('kill-self');
  if (definition === undefined) throw new Error('There is no such definition.');
  const policies = {
    ...definition.policies,
    maxAttempts: 100,
    maxCrashes: 2,
    backoff: { initialMs: 0, maxMs: 0 },
  };
  place.definitions.set('kill-self', { ...definition, policies });
  await startWorker(place, inChildren);
  const { id } = await place.dispatcher.dispatch('kill-self');
  const asCrashed = { attempt: 2, crashes: 2, error: { code: 'ChildDied', reason: 'crashed' } };
  const row = await inState(place, id, 'failed', 30_000);
  expect(row).toMatchObject(asCrashed);
  expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['retried', 'failed']);
  await place.store.retryTask(id);
  await place.table.wakeAdmission();
  expect(await inState(place, id, 'failed', 30_000)).toMatchObject({ ...asCrashed, entry: 4 });
});

test('a task whose files cannot be imported in the child fails, with what was thrown there', async () => {
  const broken = fileURLToPath(new URL('./child-fixtures/throws-at-import.mjs', import.meta.url));
  await startWorker(place, { taskFiles: [broken], isolation: 'child' });
  const { id } = await place.dispatcher.dispatch('echo');
  const { error } = await inState(place, id, 'failed');
  expect(error?.message).toContain('broken at import');
});

test('what is thrown in a child fails as it would here', async () => {
  await startWorker(place, inChildren);
  const thrown = await place.dispatcher.dispatch('throw');
  const invalid = await place.dispatcher.dispatch('bigint');
  expect(await inState(place, thrown.id, 'failed')).toMatchObject({
    error: { code: 'EBROKEN', message: 'broken' },
  });
  expect(await inState(place, invalid.id, 'failed')).toMatchObject({ result: null });
});

test('a child that ignores its signal is killed after its time', async () => {
  limitTime('deaf', 300);
  await startWorker(place, inChildren);
  const { id } = await place.dispatcher.dispatch('deaf');
  expect(await inState(place, id, 'failed')).toMatchObject({ error: { code: 'Timeout', reason: 'timeout' } });
});

test('when the worker is fenced its children, and theirs, are dead before run rejects', async () => {
  const worker = await startWorker(place, inChildren);
  const { id } = await place.dispatcher.dispatch('start-process-and-wait');
  const pid = await waitUntil(
    async () => (await place.store.getTask(id))?.progress[0] as number,
    'its pid is known',
  );
  await place.store.reapWorker(worker.owner.incarnation);
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(processLives(pid)).toBe(false);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'running' });
});
