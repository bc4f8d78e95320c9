import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import {
  nodesOf,
  openExplainingDatabase,
  type ExplainingDatabase,
} from '../../test/store/explaining-database.js';
import { openFreshPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { claimOf, newTask, openEpoch, register } from '../../test/store/rows.js';
import { createStore } from './create-store.js';

let opened: OpenStore;
let explaining: ExplainingDatabase;
beforeAll(async () => {
  opened = await openFreshPostgresStore();
  await opened.database.query(`ALTER TABLE "${opened.namespace}".tasks SET (autovacuum_enabled = off)`);
  explaining = await openExplainingDatabase(sharedPostgresUrl());
});
afterAll(async () => {
  await explaining?.close();
  await opened?.close();
});

// So many that a scan of the whole table looks cheaper than a batch of lookups, and does not stay so.
test('a large batch on a small table is still found task by task', async () => {
  const store = createStore(explaining, opened.namespace);
  const epoch = await openEpoch(store);
  const worker = await register(store);
  for (let n = 0; n < 4; n += 1) await store.insertTasks(Array.from({ length: 1_000 }, () => newTask()));
  const tasks = Array.from({ length: 500 }, () => newTask());
  await store.insertTasks(tasks);
  const entries = tasks.map(({ id }) => ({ task: id, entry: 1 }));
  const plans = await explaining.plansOf(async () => {
    await store.admissionPass((admission) => admission.markAdmitted(epoch, entries));
    await store.claimTasks({ worker, epoch, claims: entries.map(({ task }) => claimOf(task)) });
    await store.writeProgress(
      worker,
      entries.map((entry) => ({ ...entry, progress: [1] })),
    );
    await store.finishTasks(
      worker,
      entries.map((entry) => ({ ...entry, state: 'completed', result: 1 })),
    );
  });
  const scans = plans
    .flatMap(({ Plan }) => nodesOf(Plan))
    .filter((node) => node['Relation Name'] === 'tasks');
  const kinds = new Set(scans.map((node) => node['Node Type']));
  expect(kinds).toEqual(new Set(['Index Scan', 'Tid Scan', 'ModifyTable']));
});
