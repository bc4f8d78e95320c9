import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import {
  buffersOf,
  openExplainingDatabase,
  type ExplainingDatabase,
} from '../../test/store/explaining-database.js';
import { taskId } from '../../test/store/million-tasks.js';
import { openFreshPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { insertOne, openEpoch } from '../../test/store/rows.js';
import { openSession } from '../../test/store/session.js';
import { createStore } from './create-store.js';
import type { Store, TaskFilter } from './store.js';

const completed = 180_000;
const settled = 200_000;

/** What has run for long: most tasks have completed, then many failed, a few wait, and the statistics know it. */
let opened: OpenStore;
let epoch: string;
let explaining: ExplainingDatabase;
let store: Store;

beforeAll(async () => {
  opened = await openFreshPostgresStore();
  const { namespace } = opened;
  epoch = await openEpoch(opened.store);
  const session = await openSession();
  await session.query(`
    INSERT INTO "${namespace}".tasks (id, name, state, payload, exclusive, shared, admitted_epoch, due,
      worker, worker_name, fence, started_at, finished_at, attempt, result, error)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'work', CASE WHEN failed THEN 'failed' ELSE 'completed' END, '{}',
      ARRAY['r' || n], '{}', ${epoch}, true, 1, 'w', '0', now(), now(), 1,
      CASE WHEN NOT failed THEN '{"files":12}'::json END, CASE WHEN failed THEN '{}'::json END
    FROM (SELECT n, n > ${completed} AS failed FROM generate_series(1, ${settled}) n) s`);
  for (let waiting = 0; waiting < 10; waiting += 1) await insertOne(opened.store, { name: 'work' });
  await session.query(`VACUUM ANALYZE "${namespace}".tasks`);
  await session.close();
  explaining = await openExplainingDatabase(sharedPostgresUrl());
  store = createStore(explaining, namespace);
}, 120_000);
afterAll(async () => {
  await explaining?.close();
  await opened?.close();
});

async function expectCheap(call: () => Promise<unknown>): Promise<void> {
  const plans = await explaining.plansOf(call);
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans)
    expect(buffersOf(plan), `${plan['Query Text']}\n${JSON.stringify(plan.Plan, null, 1)}`).toBeLessThan(500);
}

test('a page of an audit does not read what has settled', async () => {
  await expectCheap(() => store.unsettledTasks({ after: null, limit: 1_000 }));
  await expectCheap(() => store.unsettledTasks({ after: taskId(settled / 2), limit: 1_000 }));
  expect(await opened.store.unsettledTasks({ after: null, limit: 1_000 })).toHaveLength(10);
});

test.each([
  ['of a state', { states: ['waiting'] }],
  ['of states, of which one has nothing', { states: ['waiting', 'failed', 'running'] }],
  ['of a state and a name', { states: ['waiting'], name: 'work' }],
  ['of a name', { name: 'work' }],
  ['of any', {}],
] as [string, Partial<TaskFilter>][])('a page of the list %s does not either', async (_, filter) => {
  await expectCheap(() => store.listTasks({ ...filter, after: null, limit: 20 }));
});

test('a page of a retry of all that failed does not either', async () => {
  await expectCheap(() => store.retryPage({ state: 'failed', name: null, from: null, limit: 5 }));
  await expectCheap(() => store.retryPage({ state: 'failed', name: 'work', from: null, limit: 5 }));
});

test('what admission, a rebuild and a worker read does not either', async () => {
  await expectCheap(() => store.admissionNeeded(epoch));
  await expectCheap(() =>
    store.admissionPass(async (admission) => {
      await admission.makeDue(100);
      const lanes = await admission.lanesToAdmit(epoch);
      expect(lanes).toHaveLength(1);
      await admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 100 });
      await admission.markedTakeOuts(100);
      await admission.endUnclaimedRollbacks(100);
    }),
  );
  await expectCheap(() => store.runningOf('1'));
  await expectCheap(() => store.rebuild((rebuild) => rebuild.runningLike({ after: null, limit: 50 })));
});
