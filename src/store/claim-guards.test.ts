import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClaimOutcome } from './store.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { claimOf, claimOne, insertOne, mustGet, openEpoch, register } from '../../test/store/rows.js';
import { openSession, untilCallsEnd, untilCallsWait, type Session } from '../../test/store/session.js';
import { createStore } from './create-store.js';
import { createPostgresDatabase } from './postgres-database.js';

/** G1 rests on these: README.md, "A claim". Each test holds the other side's lock while the claim waits. */
describe('a claim', () => {
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
  afterEach(() => other.close());
  afterAll(async () => {
    await watch.close();
    await opened.close();
  });

  const inSchema = (name: string): string => `"${opened.namespace}".${name}`;
  const claim = (store = opened.store): Promise<ClaimOutcome> =>
    store.claimTasks({ worker, epoch, claims: [claimOf(task)] });

  /** A claim in a transaction of its own that stays open. */
  async function claimInOpenTransaction(...tasks: string[]): Promise<void> {
    await other.query('BEGIN');
    await other.query(`SELECT ${inSchema('claim_tasks')}($1, $2, $3::uuid[], $4::integer[], $5::text[])`, [
      worker,
      epoch,
      tasks,
      tasks.map(() => 1),
      tasks.map((id) => claimOf(id).fence),
    ]);
  }

  test('waits for a rebuild, sees the epoch it commits, and is refused', async () => {
    const { claiming } = await opened.store.rebuild(async (rebuild) => {
      const waiting = claim();
      await untilCallsWait(watch, inSchema('claim_tasks'));
      const newer = await rebuild.drawEpoch(null);
      await rebuild.commitEpoch({ epoch: newer, identity: 'newer' });
      return { claiming: waiting };
    });
    expect(await claiming).toEqual({ status: 'epoch' });
    expect(await mustGet(opened.store, task)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  test('waits for a rebuild that commits nothing, and succeeds', async () => {
    let claiming: Promise<ClaimOutcome> | undefined;
    const abandoned = opened.store.rebuild(async () => {
      claiming = claim();
      await untilCallsWait(watch, inSchema('claim_tasks'));
      throw new Error('abandoned');
    });
    await expect(abandoned).rejects.toThrow('abandoned');
    expect(await claiming).toMatchObject({ status: 'claimed', claimed: [{ id: task }] });
  });

  test('under way is waited for by a rebuild, which then finds the task running', async () => {
    await claimInOpenTransaction(task);
    const rebuilding = opened.store.rebuild((rebuild) => rebuild.runningLike({ after: null, limit: 1_000 }));
    await untilCallsWait(watch, inSchema('lock_key'));
    await other.query('COMMIT');
    expect((await rebuilding).map(({ id }) => id)).toContain(task);
  });

  test('waits for the reaping of its worker, and is answered reaped', async () => {
    await other.query('BEGIN');
    await other.query(`SELECT ${inSchema('reap_worker')}($1, NULL)`, [worker]);
    const claiming = claim();
    await untilCallsWait(watch, inSchema('claim_tasks'));
    await other.query('COMMIT');
    expect(await claiming).toEqual({ status: 'reaped' });
    expect(await mustGet(opened.store, task)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  test('under way is waited for by the reaping of its worker, and nothing succeeds after that', async () => {
    await claimInOpenTransaction(task);
    const reaping = opened.store.reapWorker(worker);
    await untilCallsWait(watch, inSchema('reap_worker'));
    await other.query('COMMIT');
    expect(await reaping).toBe('reaped');
    expect(await mustGet(opened.store, task)).toMatchObject({ state: 'running' });
    const finish = { task, entry: 1, state: 'completed' as const, result: 1 };
    expect(await opened.store.finishTasks(worker, [finish])).toMatchObject([{ outcome: 'refused' }]);
    const given = await opened.store.giveBackTasks(worker, [{ task, entry: 1 }]);
    expect(given).toMatchObject([{ nextEntry: 'refused' }]);
  });

  test('under way is waited for by the removal of its worker, which then finds it running', async () => {
    await claimInOpenTransaction(task);
    const removing = opened.store.removeWorker(worker);
    await untilCallsWait(watch, inSchema('remove_worker'));
    await other.query('COMMIT');
    expect(await removing).toBe('running');
  });

  test('under way does not delay the beats of its worker', async () => {
    await claimInOpenTransaction(task);
    // A beat that waited would wait for the transaction of this very test, and the test would run out of time.
    expect(await opened.store.beat(worker)).toBe('beaten');
    expect(await opened.store.beat(worker)).toBe('beaten');
    await other.query('COMMIT');
  }, 5_000);

  test('that its client gave up executes later, and changes nothing after a give-back', async () => {
    const impatient = createPostgresDatabase({ connection: sharedPostgresUrl(), callLimitMs: 300 });
    const abandoned = opened.store.rebuild(async () => {
      const claiming = claim(createStore(impatient, opened.namespace));
      await expect(claiming).rejects.toMatchObject({ code: 'Unavailable' });
      await untilCallsWait(watch, inSchema('claim_tasks'));
      const given = await opened.store.giveBackTasks(worker, [{ task, entry: 1 }]);
      expect(given).toEqual([{ task, entry: 1, nextEntry: 2, rollsBack: false }]);
      throw new Error('the lock is let go');
    });
    await expect(abandoned).rejects.toThrow('the lock is let go');
    await untilCallsEnd(watch, inSchema('claim_tasks'));
    expect(await mustGet(opened.store, task)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0 });
    expect((await claimOne(opened.store, worker, { task, entry: 2 })).attempt).toBe(1);
    await impatient.close();
  });

  test('waits for the pass that admits its task, and succeeds', async () => {
    const outcome = await opened.store.admissionPass(async (admission) => {
      await admission.markAdmitted(epoch, [{ task, entry: 1 }]);
      const claiming = claim();
      await untilCallsWait(watch, inSchema('claim_tasks'));
      return { claiming };
    });
    if (outcome === 'busy-elsewhere') throw new Error('unreachable');
    expect(await outcome.claiming).toMatchObject({ status: 'claimed', claimed: [{ id: task, attempt: 1 }] });
    expect(await mustGet(opened.store, task)).toMatchObject({ state: 'running', attempt: 1 });
  });

  test('under way is not waited for by the mark of a pass, which lets its hold stay', async () => {
    await claimInOpenTransaction(task);
    const mark = [{ task, entry: 1 }];
    const marked = await opened.store.admissionPass((admission) => admission.markAdmitted(epoch, mark));
    expect(marked).toEqual([{ task, entry: 1, runs: true }]);
    await other.query('ROLLBACK');
    const again = await opened.store.admissionPass((admission) => admission.markAdmitted(epoch, mark));
    expect(again).toEqual([]);
  });

  test('locks its tasks in order of id, so that two calls cannot deadlock', async () => {
    const [first = '', second = ''] = [task, (await insertOne(opened.store)).id].sort();
    await other.query('BEGIN');
    await other.query(`SELECT FROM ${inSchema('tasks')} WHERE id = $1 FOR UPDATE`, [first]);
    const claims = [claimOf(second), claimOf(first)];
    const both = opened.store.claimTasks({ worker, epoch, claims });
    await untilCallsWait(watch, inSchema('claim_tasks'));
    // It waits for the first without holding the second.
    const free = await watch.query(`SELECT FROM ${inSchema('tasks')} WHERE id = $1 FOR UPDATE NOWAIT`, [
      second,
    ]);
    expect(free).toHaveLength(1);
    await other.query('COMMIT');
    expect(await both).toMatchObject({ status: 'claimed', refused: [] });
  });
});
