import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { InsertRunning, InsertRunningOutcome } from './store.js';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { insertOf, openEpoch, register, requestOf } from '../../test/store/rows.js';
import { openSession, untilCallsWait, type Session } from '../../test/store/session.js';

/** G1: the must-checks of a claim, for what is inserted as running. Each test holds the other side's lock meanwhile. */
describe('an insert of what runs', () => {
  let opened: OpenStore;
  let other: Session;
  let watch: Session;
  let insert: InsertRunning;

  beforeAll(async () => {
    opened = await openPostgresStore();
    watch = await openSession();
  });
  beforeEach(async () => {
    other = await openSession();
    const epoch = await openEpoch(opened.store);
    insert = insertOf(await register(opened.store, { kind: 'api' }), epoch);
  });
  afterEach(() => other.close());
  afterAll(async () => {
    await watch.close();
    await opened.close();
  });

  const inSchema = (name: string): string => `"${opened.namespace}".${name}`;

  /** The same call in a transaction of its own that stays open. */
  async function insertInOpenTransaction(): Promise<void> {
    const { worker, epoch, number, fence, task, lock } = insert;
    await other.query('BEGIN');
    await other.query(`SELECT ${inSchema('insert_running')}($1, $2, $3, $4, $5)`, [
      ...[worker, epoch, number, fence],
      JSON.stringify({ ...task, lock }),
    ]);
  }

  async function insertBehind(call: string, values: unknown[]): Promise<InsertRunningOutcome> {
    await other.query('BEGIN');
    await other.query(`SELECT ${inSchema(call)}`, values);
    const inserting = opened.store.insertRunning(insert);
    await untilCallsWait(watch, inSchema('insert_running'));
    await other.query('COMMIT');
    return inserting;
  }

  test('waits for a rebuild, sees the epoch it commits, and is refused', async () => {
    const { inserting } = await opened.store.rebuild(async (rebuild) => {
      const waiting = opened.store.insertRunning(insert);
      await untilCallsWait(watch, inSchema('insert_running'));
      const newer = await rebuild.drawEpoch(null);
      await rebuild.commitEpoch({ epoch: newer, identity: 'newer' });
      return { inserting: waiting };
    });
    expect(await inserting).toEqual({ status: 'epoch' });
    expect(await opened.store.getTask(insert.task.id)).toBeNull();
  });

  test('under way is waited for by a rebuild, which then finds it running', async () => {
    await insertInOpenTransaction();
    const rebuilding = opened.store.rebuild((rebuild) => rebuild.runningLike({ after: null, limit: 1_000 }));
    await untilCallsWait(watch, inSchema('lock_key'));
    await other.query('COMMIT');
    expect((await rebuilding).map(({ id }) => id)).toContain(insert.task.id);
  });

  test('waits for the reaping of its worker, and is refused', async () => {
    expect(await insertBehind('reap_worker($1, NULL)', [insert.worker])).toEqual({ status: 'reaped' });
    expect(await opened.store.getTask(insert.task.id)).toBeNull();
  });

  test('waits for its number to be passed, and is refused', async () => {
    const { worker, number } = insert;
    expect(await insertBehind('void_inserts($1, $2)', [worker, number])).toEqual({ status: 'void' });
    expect(await opened.store.getTask(insert.task.id)).toBeNull();
  });

  test('under way is waited for by who passes its number, and is there after that', async () => {
    await insertInOpenTransaction();
    const passing = opened.store.voidInserts(insert.worker, insert.number);
    await untilCallsWait(watch, inSchema('void_inserts'));
    await other.query('COMMIT');
    expect(await passing).toBe('void');
    expect(await opened.store.getTask(insert.task.id)).toMatchObject({ state: 'running' });
  });

  test('a request waits for its number to be passed, and is refused', async () => {
    const request = requestOf(insert.worker);
    await other.query('BEGIN');
    await other.query(`SELECT ${inSchema('void_inserts')}($1, $2)`, [insert.worker, request.number]);
    const requesting = opened.store.requestLock(request);
    await untilCallsWait(watch, inSchema('request_lock'));
    await other.query('COMMIT');
    expect(await requesting).toBe('void');
    expect(await opened.store.getTask(request.lock.id)).toBeNull();
  });
});
