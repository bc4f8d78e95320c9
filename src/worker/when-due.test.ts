import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';
import { listTasks } from '../tasks/reading/list-tasks.js';

let place: Place;
let warnings: Error[];
const collect = (warning: Error): void => void warnings.push(warning);

beforeEach(async () => {
  place = await serverPlace();
  warnings = [];
  process.on('warning', collect);
});
afterEach(async () => {
  process.off('warning', collect);
  await place.close();
});

test('what is due in a century, or in the last second of 9999, costs nothing meanwhile', async () => {
  let polls = 0;
  let passes = 0;
  const store = overriding(place.store, {
    admissionNeeded: (epoch) => {
      polls += 1;
      return place.store.admissionNeeded(epoch);
    },
    admissionPass: (pass) => {
      passes += 1;
      return place.store.admissionPass(pass);
    },
  });
  const run = (): void => {
    throw new Error('broken');
  };
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
  // The longest pause that a definition may ask for.
  const backoff = { initial: 2_147_483_647, max: 2_147_483_647 };
  place.definitions.set('later', defineTask({ name: 'later', run, maxAttempts: 2, backoff }));
  await startWorker(place, { store });
  const times = ['2126-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  const ahead = await place.dispatcher.dispatchMany(times.map((runAt) => ({ task: 'job', runAt })));
  const retried = await place.dispatcher.dispatch('later');
  const waitsAgain = async (): Promise<boolean> => (await place.store.getTask(retried.id))?.entry === 2;
  await waitUntil(waitsAgain, 'it waits for its second attempt');
  const past = await place.dispatcher.dispatch('job', null, { runAt: '1970-01-01T00:00:00Z' });
  await inState(place, past.id, 'completed');

  const idle = polls + 1;
  await waitUntil(() => polls >= idle, 'it has nothing more to do');
  const before = { polls, passes, at: performance.now() };
  await waitUntil(() => polls >= before.polls + 3, 'three polls');
  // One in a second and a half.
  expect(performance.now() - before.at).toBeGreaterThan(3_000);
  expect(passes).toBe(before.passes);
  expect(warnings.map(({ name }) => name)).not.toContain('TimeoutOverflowWarning');
  const { tasks } = await listTasks(place.store, { name: 'job', state: 'waiting' });
  expect(tasks.map(({ runAt }) => runAt)).toEqual(times.toReversed());
  for (const { id } of ahead) expect((await place.store.cancelTask(id))?.after).toBe('canceled');
});

test('among the tasks that have their resources, a free worker takes the larger priority first', async () => {
  const gate = latch();
  const order: unknown[] = [];
  place.definitions.set('held', defineTask({ name: 'held', run: () => gate.opened }));
  place.definitions.set('job', defineTask({ name: 'job', run: (payload) => void order.push(payload) }));
  const { dispatch } = place.dispatcher;
  await startWorker(place, { concurrency: 1 });
  const held = await dispatch('held');
  await inState(place, held.id, 'running');
  const ids: string[] = [];
  for (const [payload, priority, exclusive] of [
    ['low', -5, ['a']],
    ['middle', 0, ['b']],
    ['high', 32_767, ['c']],
    // Behind others of its resource, whatever its priority is.
    ['behind low', 32_767, ['a']],
    ['middle too', 0, ['d']],
  ] as const) {
    ids.push((await dispatch('job', payload, { priority, exclusive: [...exclusive] })).id);
  }
  const allIn = async (): Promise<boolean> => {
    const epoch = await place.epoch.get();
    const holds = await Promise.all(ids.map((id) => place.table.inspectHold(epoch, id)));
    return holds.every((hold) => hold !== null);
  };
  await waitUntil(allIn, 'all are in the table');
  gate.open();
  for (const id of ids) await inState(place, id, 'completed');
  expect(order).toEqual(['high', 'middle', 'middle too', 'low', 'behind low']);
});
