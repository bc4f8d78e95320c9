import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { nodesOf, openExplainingDatabase, type Plan } from '../../test/store/explaining-database.js';
import { openFreshPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { newTask, openEpoch } from '../../test/store/rows.js';
import { createStore } from './create-store.js';
import type { Database } from './database.js';
import type { Store } from './store.js';

const many = 100_000;

/** The longest that one statement may take: it holds locks, and a machine may be busy. It takes a tenth of a second. */
const statementLimitMs = 2_500;

let opened: OpenStore;
let store: Store;
let epoch: string;
let longestMs = 0;

beforeAll(async () => {
  opened = await openFreshPostgresStore();
  const { database, namespace } = opened;
  const timed: Database = {
    kind: database.kind,
    query: async <Row>(text: string, values?: unknown[]) => {
      const before = performance.now();
      const answer = await database.query<Row>(text, values);
      longestMs = Math.max(longestMs, performance.now() - before);
      return answer;
    },
    transaction: (work, limits) => database.transaction(work, limits),
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
  };
  store = createStore(timed, namespace);
  epoch = await openEpoch(store);
  // Where everything else is as it is in production, only the time to fill the table changes.
  await database.query(`ALTER TABLE "${namespace}".tasks SET UNLOGGED`);
  await database.query(
    `INSERT INTO "${namespace}".tasks (name, queue, payload, exclusive, admitted_epoch)
     SELECT 'name-' || n % 5, 'big', to_jsonb(n), ARRAY['r:' || n % 100], ${epoch} FROM generate_series(1, ${many}) n`,
  );
  await database.query(`ANALYZE "${namespace}".tasks`);
}, 120_000);
afterAll(() => opened.close());

async function count(condition: string): Promise<number> {
  const { rows } = await opened.database.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM "${opened.namespace}".tasks WHERE ${condition}`,
  );
  return rows[0]?.n ?? 0;
}

/** How long the question takes that every worker asks while it is idle, and a pass over one task of another queue. */
async function othersMs(): Promise<number> {
  const task = newTask({ queue: 'other' });
  await store.insertTasks([task]);
  const before = performance.now();
  expect((await store.admissionNeeded(epoch)).lanes).toHaveLength(1);
  await store.admissionPass(async (admission) => {
    const lanes = await admission.lanesToAdmit(epoch);
    const tasks = await admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 500 });
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
    await admission.markAdmitted(epoch, [{ task: task.id, entry: 1 }]);
  });
  return performance.now() - before;
}

test('100,000 waiting tasks are paused and resumed in bounded statements', { timeout: 120_000 }, async () => {
  longestMs = 0;
  await store.pauseQueue('big');
  expect(await count(`queue = 'big' AND entry = 2 AND take_out = 1 AND admitted_epoch = 0`)).toBe(many);
  expect(longestMs).toBeLessThan(statementLimitMs);

  // The first one who comes by marks the dead entries of the index.
  await store.admissionNeeded(epoch);
  expect(await othersMs()).toBeLessThan(statementLimitMs);

  longestMs = 0;
  await store.resumeQueue('big');
  expect(longestMs).toBeLessThan(statementLimitMs);
  const { rows } = await opened.database.query<{ kept: boolean }>(
    `SELECT bool_and(place > before) AS kept FROM (
       SELECT place, lag(place) OVER (ORDER BY payload::integer) AS before FROM "${opened.namespace}".tasks WHERE queue = 'big'
     ) t WHERE before IS NOT NULL`,
  );
  expect(rows).toEqual([{ kept: true }]);
});

test('no page reads the table as a whole', { timeout: 120_000 }, async () => {
  const explaining = await openExplainingDatabase(sharedPostgresUrl());
  const there = createStore(explaining, opened.namespace);
  const plans: Plan[] = await explaining.plansOf(async () => {
    for (const call of [`pause_queue('big')`, `continue_pause('big', 500)`]) {
      await explaining.query(`SELECT "${opened.namespace}".${call}`);
    }
    await there.admissionPass(async (admission) => {
      await admission.continuePauses(500);
      await admission.lanesToAdmit(epoch);
      await admission.markedTakeOuts(500);
    });
    for (const call of [`resume_queue('big')`, `continue_pause('big', 500)`]) {
      await explaining.query(`SELECT "${opened.namespace}".${call}`);
    }
  });
  await explaining.close();
  const scans = plans
    .flatMap(({ Plan: plan }) => nodesOf(plan))
    .filter((node) => node['Relation Name'] === 'tasks');
  expect(scans.length).toBeGreaterThan(5);
  const kinds = new Set(scans.map((node) => node['Node Type']));
  expect([...kinds].filter((kind) => kind.includes('Seq Scan') || kind === 'Sort')).toEqual([]);
});
