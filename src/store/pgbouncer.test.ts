import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPgBouncer, type PgBouncer } from '../../test/helpers/pgbouncer.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from '../../test/helpers/servers.js';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { claimOne, insertOne, mustGet, newTask, openEpoch, register } from '../../test/store/rows.js';
import { createStore } from './create-store.js';
import { migrationFiles } from './migration-files.js';

describe('through PgBouncer in transaction mode', () => {
  let pgbouncer: PgBouncer;
  let opened: OpenStore;
  beforeAll(async () => {
    pgbouncer = await startPgBouncer(sharedPostgresUrl());
    opened = await openPostgresStore(pgbouncer.url);
  });
  afterAll(async () => {
    await opened?.close();
    await pgbouncer?.stop();
  });

  test('the schema is made', async () => {
    const namespace = uniqueNamespace();
    try {
      const { applied } = await createStore(opened.database, namespace).migrate();
      expect(applied).toEqual(migrationFiles().map(({ name }) => name));
    } finally {
      await dropNamespace(namespace);
    }
  });

  test('a dispatch in a transaction of the caller appears when it commits, and never when it does not', async () => {
    const { store, database, namespace } = opened;
    const dispatch = `SELECT "${namespace}".dispatch('a', '{"n":1}'::jsonb, exclusive => ARRAY['r']) AS id`;
    const [kept, lost] = [newTask(), newTask()];
    const fromSql = await database.transaction(async (queryable) => {
      await store.insertTasks([kept], { queryable, notify: true });
      const { rows } = await queryable.query<{ id: string }>(dispatch);
      expect(await store.getTask(kept.id)).toBeNull();
      return rows[0]?.id ?? '';
    });
    expect(await mustGet(store, kept.id)).toMatchObject({ state: 'waiting' });
    expect(await mustGet(store, fromSql)).toMatchObject({ exclusive: ['r'], payload: { n: 1 } });
    const failing = database.transaction(async (queryable) => {
      await store.insertTasks([lost], { queryable });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await store.getTask(lost.id)).toBeNull();
  });

  test('a task is admitted, claimed and finished, by many calls at once', async () => {
    const { store } = opened;
    const epoch = await openEpoch(store);
    const worker = await register(store);
    const tasks = await Promise.all(Array.from({ length: 40 }, () => insertOne(store)));
    const marked = await store.admissionPass((admission) =>
      admission.markAdmitted(
        epoch,
        tasks.map(({ id }) => ({ task: id, entry: 1 })),
      ),
    );
    expect(marked).toEqual([]);
    await Promise.all(tasks.map(({ id }) => claimOne(store, worker, { task: id, entry: 1 })));
    expect(await store.runningOf(worker)).toHaveLength(40);
    await Promise.all(
      tasks.map(({ id }) =>
        store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: id }]),
      ),
    );
    expect(await store.settledAmong(tasks.map(({ id }) => id))).toHaveLength(40);
    expect(await store.beat(worker)).toBe('beaten');
    expect(await store.removeWorker(worker)).toBe('removed');
  });

  test('the locks and limits of a transaction do not outlive it', async () => {
    const { store, database } = opened;
    await store.admissionPass(async () => 'done');
    await openEpoch(store);
    const text = `SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
      current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`;
    const rows = await Promise.all(Array.from({ length: 20 }, () => database.query(text)));
    const clean = { locks: '0', statement: '0', lock: '0' };
    expect(rows.flatMap((result) => result.rows)).toEqual(Array.from({ length: 20 }, () => clean));
  });
});
