import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from './database.js';
import type { Store } from './store.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { claimOf, mustGet, runningTask } from '../../test/store/rows.js';
import { createStore } from './create-store.js';
import { createPostgresDatabase } from './postgres-database.js';

describe.each(['repeatable read', 'serializable'])('where the default isolation is %s', (isolation) => {
  let opened: OpenStore;
  let database: Database;
  let store: Store;
  let task: string;
  let worker: string;
  let epoch: string;

  beforeAll(async () => {
    opened = await openPostgresStore();
    const url = new URL(sharedPostgresUrl());
    url.searchParams.set('options', `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`);
    database = createPostgresDatabase({ connection: url.href });
    store = createStore(database, opened.namespace);
    ({ id: task, worker, epoch } = await runningTask(opened.store));
  });
  afterAll(async () => {
    await database.close();
    await opened.close();
  });

  const guarded: [string, () => Promise<unknown>][] = [
    ['claim', () => store.claimTasks({ worker, epoch, claims: [claimOf(task)] })],
    ['finish', () => store.finishTasks(worker, [{ task, entry: 1, state: 'completed', result: 1 }])],
    ['give-back', () => store.giveBackTasks(worker, [{ task, entry: 1 }])],
    ['readmission', () => store.readmitWithResources(worker, { task, entry: 1, exclusive: [], shared: [] })],
    ['reaping', () => store.reapWorker(worker)],
    ['settling', () => store.settleLostTasks(worker, [{ task, entry: 1 }])],
    ['removal', () => store.removeWorker(worker)],
  ];

  test.each(guarded)('a %s is refused as unsafe and changes nothing', async (_, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'UnsafeServer' });
    await expect(call()).rejects.toThrow(isolation);
    expect(await mustGet(store, task)).toMatchObject({ state: 'running', entry: 1 });
    expect(await store.beat(worker)).toBe('beaten');
  });

  test('transactions of the store are READ COMMITTED all the same', async () => {
    const seen = await store.admissionPass(async (admission) => admission.epoch);
    expect(seen).toBe(epoch);
    const text = "SELECT current_setting('transaction_isolation') AS isolation";
    const { rows } = await database.transaction((queryable) => queryable.query(text));
    expect(rows).toEqual([{ isolation: 'read committed' }]);
  });
});
