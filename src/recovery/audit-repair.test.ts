import { expect, test } from 'vitest';
import { insertOf, newWorker } from '../../test/store/rows.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace } from '../../test/worker/place.js';
import { suspect } from './audit-finding.js';
import { repair } from './audit-repair.js';

test('a hold that is entered again for a task which ends meanwhile is let go again', async () => {
  const place = await serverPlace();
  const epoch = await place.epoch.get();
  const row = newWorker({ name: 'owner', names: [], ttlMs: 600_000 });
  const owner = { name: 'owner', incarnation: (await place.store.registerWorker(row)).incarnation };
  await place.table.listOwner(epoch, owner);
  const insert = insertOf(owner.incarnation, epoch, { name: 'work', exclusive: ['R'], shared: [] });
  expect(await place.store.insertRunning(insert)).toMatchObject({ status: 'running' });
  const task = insert.task.id;

  let answer: unknown;
  const table = overriding(place.table, {
    enterNow: async (...args) => {
      const end = { task, entry: 1, state: 'completed' as const, result: null };
      await place.store.finishTasks(owner.incarnation, [end]);
      const answers = await place.table.enterNow(...args);
      answer = answers;
      return answers;
    },
  });
  await repair({ ...place, table }, epoch, suspect('running-without-hold', { task, entry: 1, owner }));

  expect(answer).toMatchObject([{ status: 'owned' }]);
  expect(await place.table.inspectHold(epoch, task)).toBeNull();
  await place.close();
});
