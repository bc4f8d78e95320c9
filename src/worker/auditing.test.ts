import { afterEach, beforeEach, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { Incarnation } from './incarnation.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { newWorker } from '../../test/store/rows.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { Auditing } from './auditing.js';

let place: Place;
let incarnation: Incarnation;
beforeEach(async () => {
  place = await serverPlace();
  const row = newWorker({ ttlMs: 600_000, names: [] });
  const owner = { name: 'w1', incarnation: (await place.store.registerWorker(row)).incarnation };
  await place.table.listOwner(await place.epoch.get(), owner);
  const { store, table, epoch, log } = place;
  const alive = { mayAct: () => true, isFenced: () => false, fence: () => {} };
  incarnation = { owner, store, table, epoch, log, ...alive };
});
afterEach(() => place.close());

/** A fleet of which each asks often. Returns who audited, and how. */
function fleet(
  size: number,
  everyMs: { shallow: number; deep: number },
): { audits: number[]; deep: number[] } {
  const seen = { audits: [] as number[], deep: [] as number[] };
  const times = { everyMs, askMs: 20, pauses: { lookAgain: [10], repaired: [0] } };
  for (let nth = 0; nth < size; nth += 1) {
    const table = overriding(place.table, {
      findNames: (epoch, find) => {
        if (find.cursor === null) (find.of === 'all' ? seen.deep : seen.audits).push(nth);
        return place.table.findNames(epoch, find);
      },
    });
    const auditing = new Auditing({ incarnation: { ...incarnation, table }, times });
    auditing.start();
    place.onClose(() => auditing.stop());
  }
  return seen;
}

test('one of a fleet audits in the time of a turn, and mends what it finds', async () => {
  const epoch = await place.epoch.get();
  const task = v7();
  const hold = {
    task,
    entry: 1,
    lane: '["a", "b", {}]',
    priority: 0,
    place: '1',
    exclusive: ['R'],
    shared: [],
  };
  await place.table.enter(epoch, '1', [hold]);
  const seen = fleet(5, { shallow: 600_000, deep: 600_000 });
  await waitUntil(async () => (await place.table.inspectHold(epoch, task)) === null, 'it is mended');
  await waitUntil(() => seen.audits.length === 1, 'the other turn is taken');
  expect(seen.deep).toHaveLength(1);
  await waitUntil(
    () => place.lines.some(({ message }) => message === 'an audit found a hold-without-task'),
    'it is told',
  );
});

test('a turn that was taken by somebody who died is free again when it expires', async () => {
  expect(await place.table.takeTurn('deep-audit', 'dead:1', 1_000)).toBe(true);
  const seen = fleet(2, { shallow: 600_000, deep: 600_000 });
  await waitUntil(() => seen.deep.length === 1, 'the next one has it');
});
