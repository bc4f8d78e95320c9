import { afterEach, beforeEach, expect, test } from 'vitest';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';

let place: Place;

beforeEach(async () => {
  place = await serverPlace();
});
afterEach(() => place.close());

function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test.each([
  ['from its first statement', () => spin(300)],
  [
    'after it has waited',
    () => new Promise<void>((resolve) => setTimeout(resolve, 10)).then(() => spin(300)),
  ],
])('a handler that keeps the thread %s, beyond its time limit, has failed', async (_, run) => {
  place.definitions.set('spins', defineTask({ name: 'spins', timeout: '100ms', run }));
  await startWorker(place);
  const { id } = await place.dispatcher.dispatch('spins');
  expect((await inState(place, id, 'failed')).error).toMatchObject({ code: 'Timeout', reason: 'timeout' });
});
