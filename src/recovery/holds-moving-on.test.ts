import { afterEach, beforeEach, expect, test } from 'vitest';
import { admit, beginTasks, claimHolds, DeathScene, dispatchJobs } from '../../test/worker/dead-worker.js';
import { overriding } from '../../test/worker/overriding.js';
import { admissionPass, firstPlace } from '../worker/admission-pass.js';

let scene: DeathScene;
beforeEach(async () => {
  scene = await DeathScene.open();
});
afterEach(async () => {
  await scene.place.close();
});

/**
 * Of a task that the dead worker had only taken, one sweeper gives the row back and dies. Another reads the row to move
 * the hold on, and something raises the entry just before.
 */
async function moveOnAfter(between: () => Promise<void>): Promise<string> {
  const { place, dead } = scene;
  const [task] = await dispatchJobs(place, {});
  await admit(place);
  const holds = await claimHolds(place, dead);
  await place.store.reapWorker(dead.incarnation);
  expect(await place.store.settleLostHolds(dead.incarnation, holds)).toEqual([2]);
  let raised = false;
  const store = overriding(place.store, {
    getTask: async (id) => {
      if (!raised) await between();
      raised = true;
      return place.store.getTask(id);
    },
  });
  expect(await scene.lose({ ...place, store })).toBe(true);
  expect(raised).toBe(true);
  // With an entry after the one that is to be taken out.
  expect(await scene.hold(task?.id)).toMatchObject({ entry: 3, status: 'granted' });
  return task?.id ?? '';
}

test('a hold that moves on while its queue is paused is taken out, and what waits for its resource goes on', async () => {
  const { store } = scene.place;
  const id = await moveOnAfter(() => store.pauseQueue('default'));
  const [behind] = await dispatchJobs(scene.place, { queue: 'other', exclusive: [id] });
  await admit(scene.place);
  expect(await scene.hold(id)).toBeNull();
  const [next] = await claimHolds(scene.place, scene.live, 1, 'other');
  expect(next?.task).toBe(behind?.id);
  expect(await scene.row(id)).toMatchObject({ state: 'waiting', attempt: 0 });
});

async function takeOutLanes(): Promise<void> {
  const { place } = scene;
  const epoch = await place.epoch.get();
  const { admitted } = await place.store.admissionNeeded(epoch);
  const request = { epoch, lanes: admitted, limit: 10 };
  expect(await place.store.admissionPass((pass) => pass.takeOutUnserved(request))).toBe(1);
}

test('a hold that moves on while its lane is taken out is taken out, and comes in again at its place', async () => {
  const { place } = scene;
  const epoch = await place.epoch.get();
  const id = await moveOnAfter(takeOutLanes);
  const { lane, place: before } = await scene.row(id);
  for (let round = 0; round < 3; round += 1) {
    await admissionPass(place, { epoch, offers: [], unserved: [lane], afterPlace: firstPlace, limit: 10 });
  }
  expect(await scene.hold(id)).toBeNull();
  await admit(place);
  expect(await scene.row(id)).toMatchObject({ state: 'waiting', entry: 4, place: before, attempt: 0 });
  expect(await scene.hold(id)).toMatchObject({ entry: 4, status: 'granted' });
  await scene.expectNothingLeft();
});

test('where the lane is served by then, the hold that moved on keeps its turn', async () => {
  const id = await moveOnAfter(takeOutLanes);
  await admit(scene.place);
  expect(await scene.row(id)).toMatchObject({ state: 'waiting', entry: 3, attempt: 0 });
  expect(await scene.hold(id)).toMatchObject({ entry: 3, status: 'granted' });
  await scene.expectNothingLeft();
});

test('a hold that was moved on and claimed is left to who claimed it', async () => {
  const { place, live } = scene;
  const id = await moveOnAfter(takeOutLanes);
  await beginTasks(place, live, await claimHolds(place, live));
  await admit(place);
  expect(await scene.row(id)).toMatchObject({ state: 'running', entry: 3, worker: live });
  expect(await scene.hold(id)).toMatchObject({ entry: 3, owner: live });
});
