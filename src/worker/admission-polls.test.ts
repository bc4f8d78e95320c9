import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sharedPostgresUrl, sharedRedisUrl } from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';
import { firstPlace, tasksPerPass } from './admission-pass.js';

let place: Place;
let polls: number;
let passes: number[];

beforeEach(async () => {
  place = await serverPlace();
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
  polls = 0;
  passes = [];
});
afterEach(() => place.close());

/** A worker whose questions about admission and whose passes are counted. */
async function startCountedWorker(): Promise<void> {
  const store = overriding(place.store, {
    admissionNeeded: (epoch) => {
      polls += 1;
      return place.store.admissionNeeded(epoch);
    },
    admissionPass: (pass) => {
      passes.push(performance.now());
      return place.store.admissionPass(pass);
    },
  });
  await startWorker(place, { store });
}

/** From SQL: nobody is woken. */
async function dispatchUnheard(name: string): Promise<string> {
  const { rows } = await place.database.query<{ id: string }>(
    `SELECT "${place.namespace}".dispatch($1, '{}'::jsonb) AS id`,
    [name],
  );
  return rows[0]?.id ?? '';
}

async function morePolls(count: number): Promise<void> {
  const before = polls;
  await waitUntil(() => polls >= before + count, `${count} more polls`);
}

test('tasks that only other workers serve cause no passes', async () => {
  await startCountedWorker();
  await morePolls(1);
  await dispatchUnheard('of-others');
  const before = passes.length;
  await morePolls(3);
  expect(passes).toHaveLength(before);
  const id = await dispatchUnheard('job');
  await inState(place, id, 'completed');
});

test('while another process has the lock of admission, one that was woken tries a few times and then asks seldom', async () => {
  const other = new pg.Client({ connectionString: sharedPostgresUrl() });
  await other.connect();
  await startCountedWorker();
  await morePolls(1);
  await other.query(`SELECT pg_advisory_lock("${place.namespace}".lock_key('admission'))`);
  const before = passes.length;
  const { id } = await place.dispatcher.dispatch('job');
  await waitUntil(() => passes.length === before + 4, 'it has tried four times');
  const started = performance.now();
  await morePolls(4);
  // What it asks then is one statement each time, which opens no transaction, and finds the lock taken.
  expect(performance.now() - started).toBeGreaterThan(3 * 400);
  expect(passes).toHaveLength(before + 4);
  await other.end();
  await inState(place, id, 'completed');
});

test('a long admission looks for earlier places again and again', async () => {
  const places: string[] = [];
  const store = overriding(place.store, {
    admissionPass: (pass) =>
      place.store.admissionPass((admission) =>
        pass(
          overriding(admission, {
            tasksToAdmit: async (request) => {
              places.push(request.afterPlace);
              if (places.length > 1) await delay(700);
              return admission.tasksToAdmit(request);
            },
          }),
        ),
      ),
  });
  const tasks = Array.from({ length: 6 * tasksPerPass }, () => ({ task: 'job', exclusive: ['r'] }));
  await place.dispatcher.dispatchMany(tasks);
  await startWorker(place, { store });
  await waitUntil(() => places.length >= 6, 'six pages', 30_000);
  expect(places[1]).not.toBe(firstPlace);
  expect(places.slice(2)).toContain(firstPlace);
});

test('in a new epoch the tasks come in from the first place on, also in the middle of a long admission', async () => {
  const firstPlaces: string[] = [];
  let pages = 0;
  let seen: string | null = null;
  const redis = new Redis(sharedRedisUrl());
  const store = overriding(place.store, {
    admissionPass: (pass) =>
      place.store.admissionPass((admission) =>
        pass(
          overriding(admission, {
            tasksToAdmit: async (request) => {
              if (request.epoch !== seen) firstPlaces.push(request.afterPlace);
              seen = request.epoch;
              pages += 1;
              if (pages === 2) await redis.del(`{${place.namespace}}:epoch`);
              return admission.tasksToAdmit(request);
            },
          }),
        ),
      ),
  });
  const tasks = Array.from({ length: 2 * tasksPerPass }, () => ({ task: 'job', exclusive: ['r'] }));
  const dispatched = await place.dispatcher.dispatchMany(tasks);
  await startWorker(place, { store });
  await inState(place, dispatched.at(-1)?.id ?? '', 'completed', 60_000);
  expect(firstPlaces).toEqual([firstPlace, firstPlace]);
  await redis.quit();
});
