import type { Owner } from '../../src/owner.js';
import type { Place } from './place.js';
import { settleLostTasks } from '../../src/recovery/settle-lost-tasks.js';

/** What recovery does for an owner that is known to be dead: its rows, then each hold of its registry. */
export async function sweep(place: Place, owner: Owner): Promise<void> {
  const { store, table } = place;
  const epoch = await place.epoch.get();
  await settleLostTasks(place, owner.incarnation);
  for (const { task, entry } of await table.readRegistry(epoch, owner, { after: null, limit: 1_000 })) {
    const row = await store.getTask(task);
    const goesOn = row?.state === 'waiting' || row?.state === 'rolling_back';
    if (entry === null) continue;
    const hold = { task, entry, owner };
    if (goesOn && row.entry > entry) await table.move(epoch, [{ ...hold, nextEntry: row.entry }]);
    else await table.release(epoch, [hold]);
  }
  await table.unlistOwner(epoch, owner);
}
