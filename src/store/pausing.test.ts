import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { claimOf, insertOne, mustGet, openEpoch, register } from '../../test/store/rows.js';
import { openSession, untilCallsWait, type Session } from '../../test/store/session.js';

/** What a pause does while another transaction, which concerns its tasks, is not over yet. */
let opened: OpenStore;
let other: Session;
let watch: Session;
let epoch: string;
let worker: string;
let task: string;

beforeAll(async () => {
  opened = await openPostgresStore();
  watch = await openSession();
});
beforeEach(async () => {
  other = await openSession();
  epoch = await openEpoch(opened.store);
  worker = await register(opened.store);
  task = (await insertOne(opened.store)).id;
});
afterEach(async () => {
  await other.close();
  await opened.store.resumeQueue('default');
});
afterAll(async () => {
  await watch.close();
  await opened.close();
});

const inSchema = (name: string): string => `"${opened.namespace}".${name}`;

async function inOpenTransaction(call: string, values: unknown[]): Promise<void> {
  await other.query('BEGIN');
  await other.query(`SELECT ${inSchema(call)}`, values);
}

const claim = (): Promise<void> =>
  inOpenTransaction('claim_tasks($1, $2, $3::uuid[], $4::integer[], $5::text[])', [
    worker,
    epoch,
    [task],
    [1],
    [claimOf(task).fence],
  ]);

test('it waits for a pass that is half-way, and finds what that has admitted', async () => {
  await other.query('BEGIN');
  await other.query(`SELECT pg_advisory_xact_lock(${inSchema('lock_key')}('admission'))`);
  await other.query(`SELECT ${inSchema('mark_admitted')}($1, $2::uuid[], $3::integer[])`, [
    epoch,
    [task],
    [1],
  ]);
  const pausing = opened.store.pauseQueue('default');
  await untilCallsWait(watch, 'pause_queue');
  await other.query('COMMIT');
  await pausing;
  const [row] = await watch.query(
    `SELECT entry, take_out, admitted_epoch FROM ${inSchema('tasks')} WHERE id = $1`,
    [task],
  );
  expect(row).toEqual({ entry: 2, take_out: 1, admitted_epoch: '0' });
});

test('where the pass does not end, it gives up in time, and has changed nothing', async () => {
  await other.query('BEGIN');
  await other.query(`SELECT pg_advisory_xact_lock(${inSchema('lock_key')}('admission'))`);
  await expect(opened.store.pauseQueue('default')).rejects.toMatchObject({ code: 'Unavailable' });
  await other.query('COMMIT');
  expect(await opened.store.pausedQueues({ after: null, limit: 10 })).toEqual([]);
  expect(await mustGet(opened.store, task)).toMatchObject({ entry: 1 });
});

test.each([
  ['COMMIT', { state: 'running', entry: 1 }],
  ['ROLLBACK', { state: 'waiting', entry: 2 }],
])('a claim that is under way decides: %s', async (end, expected) => {
  await claim();
  const pausing = opened.store.pauseQueue('default');
  await untilCallsWait(watch, 'continue_pause');
  await other.query(end);
  await pausing;
  expect(await mustGet(opened.store, task)).toMatchObject(expected);
});

test('a give-back that is under way ends first, and its task is found', async () => {
  await claim();
  await other.query('COMMIT');
  await inOpenTransaction('give_back_tasks($1, $2::uuid[], $3::integer[], $4::boolean[])', [
    worker,
    [task],
    [1],
    [false],
  ]);
  const pausing = opened.store.pauseQueue('default');
  await untilCallsWait(watch, 'pause_queue');
  await other.query('COMMIT');
  await pausing;
  expect(await mustGet(opened.store, task)).toMatchObject({ state: 'waiting', entry: 3 });
  const marked = await opened.store.admissionPass((admission) => admission.markedTakeOuts(10_000));
  expect(marked).toContainEqual({ task, entry: 2 });
});
