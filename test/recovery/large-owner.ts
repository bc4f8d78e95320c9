import type { EnteringHold } from '../../src/locks/lock-table.js';
import type { Owner } from '../../src/owner.js';
import type { Claim } from '../../src/store/store.js';
import type { Place } from '../worker/place.js';
import { laneText } from '../../src/lane.js';
import { newTask, newWorker, somePolicies } from '../store/rows.js';

const perCall = 100;
const locksEach = 5;

/**
 * A reaped worker with so many tasks of 5 resources each: every other one runs, and is given back by its policy; the
 * rest it has taken in the lock table only.
 */
export async function largeDeadOwner(place: Place, count: number): Promise<{ owner: Owner; ids: string[] }> {
  const { store, table } = place;
  const { incarnation } = await store.registerWorker(newWorker({ name: 'large' }));
  const owner = { name: 'large', incarnation };
  const epoch = await place.epoch.get();
  await table.listOwner(epoch, owner);
  const ids: string[] = [];
  for (let first = 0; first < count; first += perCall) {
    const tasks = Array.from({ length: perCall }, (_, n) =>
      newTask({
        name: 'large',
        exclusive: Array.from({ length: locksEach }, (_each, lock) => `r:${first + n}:${lock}`),
        shared: [],
        policies: { ...somePolicies, onWorkerLost: 'retry' },
      }),
    );
    await store.insertTasks(tasks);
    ids.push(...tasks.map(({ id }) => id));
    const rows = await Promise.all(tasks.map(({ id }) => store.getTask(id)));
    const holds = rows.map((row): EnteringHold => {
      if (row === null) throw new Error('It was inserted.');
      const { id, entry, priority, place: at, exclusive, shared } = row;
      const lane = laneText({ queue: row.queue, name: row.name, needs: {} });
      return { task: id, entry, lane, priority, place: at, exclusive, shared };
    });
    const answers = await table.enterNow(epoch, owner, holds);
    if (answers === 'unlisted') throw new Error('It was listed.');
    const claims = answers.map((answer, n): Claim => {
      if (answer.status !== 'owned') throw new Error(`It is ${answer.status}.`);
      return { task: holds[n]?.task ?? '', entry: 1, fence: answer.fence };
    });
    await store.claimTasks({ worker: incarnation, epoch, claims: claims.filter((_, n) => n % 2 === 0) });
  }
  await store.reapWorker(incarnation);
  return { owner, ids };
}
