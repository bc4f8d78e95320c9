import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { claimOne, mustGet, newTask, openEpoch, register } from '../../test/store/rows.js';
import { openSession, untilCallsWait, type Session } from '../../test/store/session.js';
import type { NewTask, UniqueMode } from './store.js';

/** What happens while another transaction, which has done the same, is not over yet. */
describe.each<UniqueMode>(['keep', 'replace'])('two transactions with one key, mode %s', (uniqueMode) => {
  let opened: OpenStore;
  let other: Session;
  let watch: Session;
  let keys = 0;
  let uniqueKey: string;

  beforeAll(async () => {
    opened = await openPostgresStore();
    await openEpoch(opened.store);
    watch = await openSession();
  });
  beforeEach(async () => {
    other = await openSession();
    uniqueKey = `key ${(keys += 1)}`;
  });
  afterEach(() => other.close());
  afterAll(async () => {
    await watch.close();
    await opened.close();
  });

  const keyed = (): NewTask => newTask({ uniqueKey, uniqueMode });

  async function dispatchInOpenTransaction(): Promise<string> {
    await other.query('BEGIN');
    const text = `SELECT "${opened.namespace}".dispatch('first', unique_key => $1, unique_mode => $2) AS id`;
    const [row] = await other.query(text, [uniqueKey, uniqueMode]);
    return (row as { id: string }).id;
  }

  async function unfinished(): Promise<string[]> {
    const text = `SELECT id FROM "${opened.namespace}".tasks WHERE unique_key = $1 AND finished_at IS NULL`;
    return (await watch.query(text, [uniqueKey])).map(({ id }) => id as string);
  }

  test('the second waits for the first, and finds its task', async () => {
    const first = await dispatchInOpenTransaction();
    const second = keyed();
    const inserting = opened.store.insertTasks([second]);
    await untilCallsWait(watch, 'insert_keyed_tasks');
    await other.query('COMMIT');
    expect(await inserting).toMatchObject(
      uniqueMode === 'keep' ? [{ given: second.id, task: { id: first } }] : [],
    );
    expect(await unfinished()).toEqual([uniqueMode === 'keep' ? first : second.id]);
  });

  test('where the first rolls back, the second exists', async () => {
    const first = await dispatchInOpenTransaction();
    const second = keyed();
    const inserting = opened.store.insertTasks([second]);
    await untilCallsWait(watch, 'insert_keyed_tasks');
    await other.query('ROLLBACK');
    expect(await inserting).toEqual([]);
    expect(await unfinished()).toEqual([second.id]);
    expect(await opened.store.getTask(first)).toBeNull();
  });

  test('a task that is being claimed is not replaced', async () => {
    const there = keyed();
    await opened.store.insertTasks([there]);
    await other.query('BEGIN');
    // As a claim does.
    const worker = await register(opened.store);
    await other.query(
      `UPDATE "${opened.namespace}".tasks SET state = 'running', attempt = 1, worker = $2, worker_name = 'w',
         fence = '1', started_at = now() WHERE id = $1`,
      [there.id, worker],
    );
    const second = keyed();
    const inserting = opened.store.insertTasks([second]);
    if (uniqueMode === 'replace') await untilCallsWait(watch, 'insert_keyed_tasks');
    else await inserting;
    await other.query('COMMIT');
    expect(await inserting).toMatchObject([{ given: second.id, task: { id: there.id } }]);
    expect((await mustGet(opened.store, there.id)).state).toBe('running');
  });

  test('a task that runs ends while the transaction that kept it is open', async () => {
    const there = keyed();
    await opened.store.insertTasks([there]);
    const worker = await register(opened.store);
    await claimOne(opened.store, worker, { task: there.id, entry: 1 });
    expect(await dispatchInOpenTransaction()).toBe(there.id);
    const finish = { task: there.id, entry: 1, state: 'completed' as const, result: 1 };
    expect(await opened.store.finishTasks(worker, [finish])).toMatchObject([{ outcome: 'completed' }]);
    await other.query('COMMIT');
  });

  test('50 at once make one task', async () => {
    const tasks = Array.from({ length: 50 }, keyed);
    const answers = await Promise.all(tasks.map((task) => opened.store.insertTasks([task])));
    const [left, ...more] = await unfinished();
    expect(more).toEqual([]);
    const inserted = answers.filter((answer) => answer.length === 0).length;
    if (uniqueMode === 'keep') expect(inserted).toBe(1);
    for (const [answer] of answers) if (uniqueMode === 'keep' && answer) expect(answer.task.id).toBe(left);
  });

  test('batches with the same keys in other orders do not deadlock', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `${uniqueKey} ${n}`);
    const batch = (order: string[]): NewTask[] => order.map((key) => newTask({ uniqueKey: key, uniqueMode }));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        [names, names.toReversed(), names, names.toReversed()].map((order) =>
          opened.store.insertTasks(batch(order)),
        ),
      );
    }
    const text = `SELECT count(*)::integer AS n FROM "${opened.namespace}".tasks
      WHERE unique_key LIKE $1 AND finished_at IS NULL`;
    expect(await watch.query(text, [`${uniqueKey} %`])).toEqual([{ n: 40 }]);
  });
});
