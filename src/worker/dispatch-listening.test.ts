import { afterEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';

let place: Place;
afterEach(async () => {
  await place.close();
});

test('of a fleet only the eldest worker hears of a dispatch from SQL', async () => {
  place = await serverPlace();
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
  const heard: string[] = [];
  let listening = 0;
  const listenAs =
    (name: string) =>
    async (listener: () => void): Promise<() => Promise<void>> => {
      const end = await place.database.listen(place.namespace, () => {
        heard.push(name);
        listener();
      });
      listening += 1;
      return end;
    };
  const names = ['first', 'second', 'third'];
  for (const name of names) await startWorker(place, { name, listenForDispatches: listenAs(name) });
  await waitUntil(() => listening > 0, 'somebody listens');
  const { rows } = await place.database.query<{ id: string }>(
    `SELECT "${place.namespace}".dispatch('job') AS id`,
  );
  await inState(place, rows[0]?.id ?? '', 'completed');
  expect(heard).toEqual(['first']);
});
