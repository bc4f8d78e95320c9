import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { audit, auditPauses } from '../recovery/audit.js';
import type { TaskRow } from '../store/store.js';
import { defineTask, type TaskDefinition } from '../tasks/definition.js';
import { admissionPass, firstPlace } from './admission-pass.js';
import { UnservedLanes } from './unserved-lanes.js';

let place: Place;
const ttlMs = 2_000;

beforeEach(async () => {
  place = await serverPlace();
});
afterEach(async () => {
  await place.close();
});

function define(name: string, run: TaskDefinition['run'] = () => {}): TaskDefinition {
  const definition = defineTask({ name, run });
  place.definitions.set(name, definition);
  return definition;
}

async function dispatch(name: string, ...exclusive: string[]): Promise<string> {
  return (await place.dispatcher.dispatch(name, null, { exclusive })).id;
}

test('a lane is overdue once nobody has served it for the whole time, and counted anew after somebody has', () => {
  const lanes = new UnservedLanes(1_000);
  expect(lanes.overdue(['a'], 0)).toEqual([]);
  expect(lanes.overdue(['a', 'b'], 999)).toEqual([]);
  expect(lanes.overdue(['a', 'b'], 1_000)).toEqual(['a']);
  expect(lanes.overdue(['b'], 1_999)).toEqual(['b']);
  expect(lanes.overdue(['a', 'b'], 2_500)).toEqual(['b']);
});

test('what the last worker of a lane leaves waiting blocks nobody, and comes in at its place when it is served', async () => {
  const order: string[] = [];
  let end = (): void => {};
  const first = define('first', () => new Promise<void>((resolve) => (end = resolve)));
  const rare = define('rare', () => void order.push('rare'));
  const common = define('common', () => void order.push('common'));
  const others = (...definitions: TaskDefinition[]): Map<string, TaskDefinition> =>
    new Map(definitions.map((definition) => [definition.name, definition]));

  const last = await startWorker(place, {
    name: 'last',
    concurrency: 1,
    ttlMs,
    definitions: others(first, rare),
  });
  const running = await dispatch('first', 'x');
  await inState(place, running, 'running');
  // One is granted, and one waits for x: the only slot is taken.
  const granted = await dispatch('rare', 'r');
  const queued = await dispatch('rare', 'x', 's');
  const epoch = await place.epoch.get();
  const hold = (): Promise<unknown> => place.table.inspectHold(epoch, queued);
  await expect.poll(hold, { timeout: 20_000 }).toMatchObject({ status: 'queued' });
  const stopping = last.stop();
  end();
  await stopping;

  await startWorker(place, { name: 'stays', ttlMs, definitions: others(common) });
  const before = performance.now();
  const behind = [await dispatch('common', 'r'), await dispatch('common', 's')];
  await delay(ttlMs / 2);
  // One that is only started again keeps its turn.
  for (const id of behind) expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting' });
  for (const id of behind) await inState(place, id, 'completed', 20_000);
  expect(performance.now() - before).toBeGreaterThan(ttlMs / 2);
  for (const id of [granted, queued]) {
    expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0 });
    expect(await place.table.inspectHold(epoch, id)).toBeNull();
  }

  await startWorker(place, { name: 'back', ttlMs, definitions: others(rare) });
  for (const id of [granted, queued]) {
    expect(await inState(place, id, 'completed', 20_000)).toMatchObject({ entry: 2, attempt: 1 });
  }
  expect(order).toEqual(['common', 'common', 'rare', 'rare']);
});

test('a lane that is served by now keeps what it has', async () => {
  define('rare');
  const id = await dispatch('rare', 'r');
  const { lane } = (await place.store.getTask(id)) as TaskRow;
  const offers = [{ queues: ['default'], names: ['rare'], versions: {} }];
  const at = { epoch: await place.epoch.get(), afterPlace: firstPlace, unserved: [lane], limit: 10 };
  await admissionPass(place, { ...at, offers });
  await admissionPass(place, { ...at, offers });
  expect(await place.store.getTask(id)).toMatchObject({ entry: 1 });
  await admissionPass(place, { ...at, offers: [] });
  expect(await place.store.getTask(id)).toMatchObject({ entry: 2 });
});

test('what the last worker of a lane gave back, and what it entered and never marked, blocks nobody for ever', async () => {
  const rare = define('rare', (_payload, { signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  const common = define('common');
  const last = await startWorker(place, { ttlMs, graceMs: 0, definitions: new Map([['rare', rare]]) });
  const back = await dispatch('rare', 'r');
  await inState(place, back, 'running');
  await last.stop();
  const epoch = await place.epoch.get();
  expect(await place.table.inspectHold(epoch, back)).toMatchObject({ entry: 2, status: 'granted' });
  const unmarked = await dispatch('rare', 's');
  const { lane, priority, place: at } = (await place.store.getTask(unmarked)) as TaskRow;
  const hold = { task: unmarked, entry: 1, lane, priority, place: at, exclusive: ['s'], shared: [] };
  await place.table.enter(epoch, '1', [hold]);

  await startWorker(place, { name: 'stays', ttlMs, definitions: new Map([['common', common]]) });
  const behind = [await dispatch('common', 'r'), await dispatch('common', 's')];
  await inState(place, behind[0] ?? '', 'completed', 20_000);
  const request = { epoch, repair: true, deep: false };
  expect(await audit(place, request, auditPauses)).toMatchObject([
    { kind: 'hold-not-admitted', task: unmarked, repaired: true },
  ]);
  await inState(place, behind[1] ?? '', 'completed');
  for (const id of [back, unmarked]) expect(await place.table.inspectHold(epoch, id)).toBeNull();
});
