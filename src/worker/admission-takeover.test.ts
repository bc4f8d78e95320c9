import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sharedPostgresUrl, sharedRedisUrl } from '../../test/helpers/servers.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';

const boundMs = 2_000;
const fixture = fileURLToPath(new URL('../../test/worker/stalling-admitter.mjs', import.meta.url));
let place: Place;
let admitter: ChildProcess | null = null;
let started: number[] = [];

beforeEach(async () => {
  place = await serverPlace();
  started = [];
  place.definitions.set('job', defineTask({ name: 'job', run: () => void started.push(performance.now()) }));
  await place.epoch.get();
});
afterEach(async () => {
  admitter?.kill('SIGKILL');
  await place.close();
});

async function stallIn(how: 'freeze' | 'kill'): Promise<void> {
  const args = [fixture, how, place.namespace, sharedPostgresUrl(), sharedRedisUrl()];
  admitter = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(admitter.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  expect(said.toString()).toMatch(/^entered/);
}

test.each(['freeze', 'kill'] as const)(
  'a task starts within two seconds although an admitter is stopped in mid-pass (%s)',
  async (how) => {
    await startWorker(place);
    for (let round = 0; round < 3; round += 1) {
      await stallIn(how);
      const dispatched = performance.now();
      // From SQL: nobody is woken.
      const { rows } = await place.database.query<{ id: string }>(
        `SELECT "${place.namespace}".dispatch('job', '{}'::jsonb) AS id`,
      );
      await inState(place, rows[0]?.id ?? '', 'completed');
      expect((started.at(-1) ?? Infinity) - dispatched).toBeLessThan(boundMs);
      admitter?.kill('SIGKILL');
    }
  },
);

test('what a stopped admitter entered and never marked runs too', async () => {
  const { id } = await place.dispatcher.dispatch('job');
  await stallIn('freeze');
  expect(await place.table.inspectHold(await place.epoch.get(), id)).toMatchObject({ status: 'granted' });
  await startWorker(place);
  await inState(place, id, 'completed');
  expect(started).toHaveLength(1);
});
