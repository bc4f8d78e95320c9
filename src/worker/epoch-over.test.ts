import { afterEach, beforeEach, test } from 'vitest';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { openEpoch } from '../recovery/open-epoch.js';
import { defineTask } from '../tasks/definition.js';

let place: Place;

beforeEach(async () => {
  place = await serverPlace();
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
});
afterEach(() => place.close());

test('a wait in an epoch that is over ends as soon as any part of the process finds that out', async () => {
  const table = overriding(place.table, {
    waitForWake: (epoch, lanes, timeoutMs, signal) =>
      place.table.waitForWake(epoch, lanes, timeoutMs === 0 ? 0 : 600_000, signal),
  });
  await startWorker(place, { table, ttlMs: 600_000 });
  await inState(place, (await place.dispatcher.dispatch('job')).id, 'completed');
  await openEpoch(place, 'always');
  await inState(place, (await place.dispatcher.dispatch('job')).id, 'completed');
});
