import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Redis } from 'ioredis';
import { v7 } from 'uuid';
import { z } from 'zod';
import type { Owner } from '../owner.js';
import type { AuditOptions, AuditReport } from './audit-locks.js';
import { sharedRedisUrl } from '../../test/helpers/servers.js';
import {
  claimOne,
  insertOf,
  insertOne,
  mustGet,
  newTask,
  newWorker,
  withRollback,
} from '../../test/store/rows.js';
import { damage } from '../../test/worker/damage.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { laneText } from '../lane.js';
import { defineTask, type TaskContext } from '../tasks/definition.js';
import { auditLocks } from './audit-locks.js';
import { cleanupLocksForWorker } from './cleanup-locks-for-worker.js';

const lane = laneText({ queue: 'default', name: 'work', needs: {} });
let place: Place;

/** Nothing is on its way for long in most of these tests. */
const pauses = { lookAgain: [50, 50], repaired: [0, 100, 500, 2_500] };
const look = (options?: AuditOptions): Promise<AuditReport> => auditLocks(place, options, pauses);

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);

describe.each([
  ['on real servers', () => serverPlace()],
  ['embedded', () => embeddedPlace()],
])('an audit, %s,', (_, openPlace) => {
  /** A worker that beats for no one and does nothing: its row lives. */
  let owner: Owner;
  let epoch: string;

  beforeEach(async () => {
    place = await openPlace();
    place.definitions.set('work', defineTask({ name: 'work', run: () => {} }));
    epoch = await place.epoch.get();
    const row = newWorker({ name: 'owner', names: [], ttlMs: 600_000 });
    owner = { name: 'owner', incarnation: (await place.store.registerWorker(row)).incarnation };
    await place.table.listOwner(epoch, owner);
  });
  afterEach(async () => {
    await place.close();
  });

  const holdOf = (task: string, resource = 'R'): Parameters<Place['table']['enterNow']>[2][number] => {
    return { task, entry: 1, lane, priority: 0, place: '7', exclusive: [resource], shared: [] };
  };

  /** A task that runs under its hold. */
  async function running(resource = 'R'): Promise<string> {
    const insert = insertOf(owner.incarnation, epoch, { name: 'work', exclusive: [resource], shared: [] });
    const answers = await place.table.enterNow(epoch, owner, [holdOf(insert.task.id, resource)]);
    expect(answers).toMatchObject([{ status: 'owned' }]);
    expect(await place.store.insertRunning(insert)).toMatchObject({ status: 'running' });
    return insert.task.id;
  }

  const finish = async (task: string): Promise<void> => {
    const finishes = [{ task, entry: 1, state: 'completed' as const, result: null }];
    await place.store.finishTasks(owner.incarnation, finishes);
  };

  const waiting = async (resource = 'R'): Promise<string> => {
    const { id } = await place.dispatcher.dispatch('work', null, { exclusive: [resource] });
    return id;
  };

  const kinds = ({ findings }: AuditReport): string[] => findings.map(({ kind }) => kind);

  async function admitted(...tasks: string[]): Promise<void> {
    for (const task of tasks) {
      await expect
        .poll(async () => (await place.table.inspectHold(epoch, task))?.status ?? null)
        .not.toBeNull();
    }
  }

  /** It is named and nothing else is, is left alone without `repair`, and is mended with it: those behind it go on. */
  async function expectFoundAndMended(
    found: Record<string, unknown>,
    { deep = false, behind }: { deep?: boolean; behind?: string } = {},
  ): Promise<void> {
    const first = await look({ deep });
    expect(first.findings).toEqual([expect.objectContaining({ ...found, repaired: false })]);
    expect(first).toMatchObject({ ok: false, unexplained: 1 });
    const mended = await look({ deep, repair: true });
    expect(mended.findings).toEqual([expect.objectContaining({ ...found, repaired: true })]);
    if (behind !== undefined) await inState(place, behind, 'completed');
    expect(await look({ deep: true })).toEqual({ ok: true, unexplained: 0, findings: [] });
  }

  test('finds nothing where nothing is wrong', async () => {
    await running();
    await waiting();
    expect(await look({ deep: true })).toEqual({ ok: true, unexplained: 0, findings: [] });
  });

  test('refuses options that it does not have', async () => {
    await expect(look({ reapir: true } as object)).rejects.toMatchObject({
      code: 'InvalidTask',
    });
    await expect(look({ deep: 1 } as object)).rejects.toMatchObject({ code: 'InvalidTask' });
  });

  test('a release that never came: the hold of a settled task, under an owner that lives', async () => {
    const task = await running();
    await startWorker(place);
    const behind = await waiting();
    await admitted(behind);
    await finish(task);
    await expectFoundAndMended({ kind: 'hold-of-settled-task', task, entry: 1, owner }, { behind });
  });

  test('a hold of no task, owned: its insert becomes impossible before it goes', async () => {
    const task = v7();
    await place.table.enterNow(epoch, owner, [holdOf(task)]);
    await startWorker(place);
    const behind = await waiting();
    await expectFoundAndMended({ kind: 'hold-without-task', task, owner }, { behind });
    expect(await place.store.getTask(task)).toMatchObject({ state: 'canceled', name: 'work' });
    const late = insertOf(owner.incarnation, epoch, { id: task, name: 'work' });
    await expect(place.store.insertRunning(late)).rejects.toThrow();
  });

  test('a hold of no task that nobody owns', async () => {
    const task = v7();
    await place.table.enter(epoch, '1', [{ ...holdOf(task), lane: '["default", "nobody", {}]' }]);
    await startWorker(place);
    const behind = await waiting();
    await expectFoundAndMended({ kind: 'hold-without-task', task, owner: null }, { behind });
  });

  test('a hold of an earlier entry, where its task went on', async () => {
    await startWorker(place);
    const task = await running();
    const behind = await waiting();
    await admitted(behind);
    await place.store.giveBackTasks(owner.incarnation, [{ task, entry: 1 }]);
    await expectFoundAndMended({ kind: 'hold-of-earlier-entry', task, entry: 1, owner }, { behind });
    await inState(place, task, 'completed');
  });

  test('a lock that leads to no hold', async () => {
    await damage(place, { lock: 'R', of: 'nobody' });
    await startWorker(place);
    const behind = await waiting();
    await admitted(behind);
    await expectFoundAndMended({ kind: 'lock-without-hold', task: 'nobody', resource: 'R' }, { behind });
  });

  test('a place in a queue that leads to no hold', async () => {
    await damage(place, { waiter: 'R', of: 'nobody' });
    await startWorker(place);
    const behind = await waiting();
    await admitted(behind);
    await expectFoundAndMended(
      { kind: 'queue-place-without-hold', task: 'nobody', resource: 'R' },
      { behind },
    );
  });

  test('a queue whose head nothing blocks', async () => {
    const task = await running();
    await startWorker(place);
    const behind = await waiting();
    await admitted(behind);
    await damage(place, { lostHold: task }, { lostLock: 'R' }, { lostRegistry: owner });
    await finish(task);
    await expectFoundAndMended({ kind: 'queue-stalled', task: behind, resource: 'R' }, { behind });
  });

  test('a ready place that leads to no hold', async () => {
    await damage(place, { ready: lane, of: 'nobody' });
    await expectFoundAndMended({ kind: 'ready-place-without-hold', task: 'nobody', lane });
  });

  test('an entry of a registry that leads to no hold', async () => {
    const task = await running();
    await finish(task);
    await damage(place, { lostHold: task }, { lostLock: 'R' });
    await expectFoundAndMended({ kind: 'registry-entry-without-hold', task, owner });
  });

  test('a hold that the registry of its owner lacks, as when it was deleted', async () => {
    const task = await running();
    await damage(place, { lostRegistry: owner });
    await expectFoundAndMended({ kind: 'hold-unregistered', task, entry: 1, owner });
    const [entry] = await place.table.readRegistry(epoch, owner, { after: null, limit: 10 });
    expect(entry).toMatchObject({ task, entry: 1 });
  });

  test('a task that waits, counts as admitted, and has no hold', async () => {
    const blocker = await running();
    await startWorker(place);
    const behind = await waiting();
    await admitted(behind);
    await place.table.takeOut(epoch, [{ task: behind, entry: 1 }]);
    await expectFoundAndMended({ kind: 'task-without-hold', task: behind, entry: 1 });
    await admitted(behind);
    await finish(blocker);
    await place.table.release(epoch, [{ task: blocker, entry: 1, owner }]);
    await inState(place, behind, 'completed');
  });

  test('a granted hold that no worker can see', async () => {
    const task = await waiting();
    await place.table.enter(epoch, '1', [{ ...holdOf('R'), task }]);
    await damage(place, { lostReady: lane });
    await expectFoundAndMended({ kind: 'hold-not-ready', task, entry: 1 });
    await startWorker(place);
    await inState(place, task, 'completed');
  });

  test('a hold whose entering has never come to its end', async () => {
    const task = await waiting();
    await place.table.enter(epoch, '1', [{ ...holdOf('R'), task }]);
    await damage(place, { entering: task }, { lostReady: lane });
    await expectFoundAndMended({ kind: 'hold-unfinished', task, entry: 1 });
    await startWorker(place);
    await inState(place, task, 'completed');
  });

  test('a task that runs without a hold gets it back, where nobody has come in', async () => {
    const task = await running();
    await damage(place, { lostHold: task }, { lostLock: 'R' }, { lostRegistry: owner });
    await expectFoundAndMended({ kind: 'running-without-hold', task, entry: 1 });
    expect(await place.table.inspectHold(epoch, task)).toMatchObject({ status: 'owned', owner });
  });

  test('what runs while another has its resource is told, and left to people', async () => {
    const task = await running();
    await damage(place, { lostHold: task }, { lostLock: 'R' }, { lostRegistry: owner });
    const other = await running();
    const report = await look({ repair: true });
    expect(report.findings).toMatchObject([{ kind: 'running-without-hold', task, repaired: false }]);
    expect(await place.table.inspectHold(epoch, other)).toMatchObject({ status: 'owned' });
  });

  test('an owner without a worker', async () => {
    const orphan = { name: 'orphan', incarnation: '999999' };
    await place.table.listOwner(epoch, orphan);
    const report = await look({ repair: true });
    expect(report.findings).toMatchObject([{ kind: 'owner-without-worker', owner: orphan, repaired: false }]);
  });

  test('only `deep` finds what neither tasks nor owners nor lanes lead to', async () => {
    await damage(place, { lock: 'forgotten', of: 'nobody' });
    expect(await look()).toMatchObject({ ok: true });
    const found = { kind: 'lock-without-hold', task: 'nobody', resource: 'forgotten' };
    await expectFoundAndMended(found, { deep: true });
  });

  test('what a dead owner has is its clean-up’s', async () => {
    const task = await running();
    await finish(task);
    await place.store.reapWorker(owner.incarnation);
    expect(kinds(await look({ repair: true, deep: true }))).toEqual([]);
    expect(await place.table.inspectHold(epoch, task)).toMatchObject({ status: 'owned' });
  });

  test('what nobody would find of a dead owner is listed again, and so cleaned up', async () => {
    const task = await running();
    await finish(task);
    await damage(place, { lostRegistry: owner });
    await place.table.unlistOwner(epoch, owner);
    await place.store.reapWorker(owner.incarnation);
    await place.store.removeWorker(owner.incarnation);
    const found = { kind: 'hold-unregistered', task, owner };
    expect((await look({ deep: true })).findings).toEqual([expect.objectContaining(found)]);
    expect((await look({ deep: true, repair: true })).findings).toEqual([
      expect.objectContaining({ ...found, repaired: true }),
    ]);
    expect(await cleanupLocksForWorker(place, owner)).toBe(true);
    expect(await look({ deep: true })).toEqual({ ok: true, unexplained: 0, findings: [] });
  });

  test('a hold of an earlier entry, whose task is to be rolled back under it, stays', async () => {
    const task = { name: 'nobody', exclusive: ['R'], shared: [], policies: withRollback };
    const { id } = await insertOne(place.store, task);
    const { place: at } = await mustGet(place.store, id);
    const hold = { ...holdOf(id), lane: '["default", "nobody", {}]', place: at };
    await place.table.enter(epoch, '1', [hold]);
    await claimOne(place.store, owner.incarnation, { task: id, entry: 1 });
    const error = { code: 'E', message: 'e' };
    await place.store.finishTasks(owner.incarnation, [
      { task: id, entry: 1, state: 'failed', error, rollBack: true },
    ]);
    expect(await mustGet(place.store, id)).toMatchObject({ state: 'rolling_back', entry: 2 });
    const found = { kind: 'hold-of-earlier-entry', task: id, repaired: false };
    expect((await look({ repair: true })).findings).toEqual([expect.objectContaining(found)]);
    expect(await place.table.inspectHold(epoch, id)).toMatchObject({ entry: 1, status: 'granted' });
  });

  test('what is marked to be taken out is no finding', async () => {
    const task = v7();
    const hold = { ...holdOf(task), lane: '["default", "nobody", {}]' };
    await place.store.insertTasks([newTask({ id: task, name: 'nobody', exclusive: ['R'], shared: [] })]);
    await place.table.enter(epoch, '1', [hold]);
    await place.store.admissionPass((admission) => admission.markAdmitted(epoch, [{ task, entry: 1 }]));
    await place.store.cancelTask(task);
    expect(await place.table.inspectHold(epoch, task)).not.toBeNull();
    expect(kinds(await look({ deep: true }))).toEqual([]);
  });

  test('what is on its way is no finding: it is looked at again', async () => {
    const task = await running();
    await finish(task);
    const audited = auditLocks(place, { repair: true }, { ...pauses, lookAgain: [1, 1_000] });
    setTimeout(() => void place.table.release(epoch, [{ task, entry: 1, owner }]), 300);
    expect(kinds(await audited)).toEqual([]);
  });

  test('a system that is busy is never reported, and never harmed by a repair', async () => {
    const runs = new Map<string, number>();
    const run = async ({ n }: { n: number }, { task, attempt }: TaskContext): Promise<void> => {
      runs.set(task.id, (runs.get(task.id) ?? 0) + 1);
      await delay(n % 7);
      if (n % 5 === 0 && attempt === 1) throw new Error('the first attempt fails');
    };
    const payload = z.object({ n: z.number() });
    const backoff = { initial: 1, max: 1 };
    const busy = defineTask({ name: 'busy', payload, run, maxAttempts: 2, backoff });
    const undone = defineTask({ name: 'undone', payload, run, rollback: () => {}, maxAttempts: 2, backoff });
    for (const definition of [busy, undone]) place.definitions.set(definition.name, definition);
    for (const name of ['a', 'b', 'c']) await startWorker(place, { name, concurrency: 5, ttlMs: 30_000 });

    const settled = new AbortController();
    const reports: string[][] = [];
    const audits = [{ repair: true, deep: true }, { repair: true }].map(async (options) => {
      while (!settled.signal.aborted) {
        reports.push(kinds(await auditLocks(place, options)));
        await delay(20);
      }
    });
    const tasks = Array.from({ length: 300 }, (_, n) => ({
      task: n % 3 === 0 ? undone : busy,
      payload: { n },
      exclusive: n % 4 === 0 ? [`R${n % 3}`, 'S'] : [`R${n % 3}`],
      shared: n % 4 === 0 ? [] : ['S'],
    }));
    const ids: string[] = [];
    for (let at = 0; at < tasks.length; at += 30) {
      ids.push(...(await place.dispatcher.dispatchMany(tasks.slice(at, at + 30))).map(({ id }) => id));
      // Some are canceled while they wait, or run.
      if (at > 0) await place.store.cancelTask(ids[at - 1] ?? '');
    }
    await expect
      .poll(async () => (await place.store.unsettledTasks({ after: null, limit: 1 })).length, {
        timeout: 120_000,
      })
      .toBe(0);
    settled.abort();
    await Promise.all(audits);
    expect(reports.length).toBeGreaterThan(1);
    expect(reports.filter((each) => each.length > 0)).toEqual([]);
    const canceled = (await place.store.listTasks({ states: ['canceled'], after: null, limit: 400 })).length;
    const completed = await place.store.listTasks({ states: ['completed'], after: null, limit: 400 });
    expect(completed.length + canceled).toBe(tasks.length);
    for (const { id, attempt } of completed) expect(runs.get(id)).toBe(attempt);
    expect(await look({ deep: true })).toMatchObject({ ok: true });
  }, 240_000);
});

test('without `deep` an audit neither scans nor asks for keys', async () => {
  place = await serverPlace();
  const redis = new Redis(sharedRedisUrl());
  const epoch = await place.epoch.get();
  await place.table.listOwner(epoch, { name: 'owner', incarnation: '999999' });
  await place.dispatcher.dispatch('work', null, { exclusive: ['R'] });
  const lines: string[] = [];
  const monitor = await redis.monitor();
  const namespace = place.namespace;
  monitor.on('monitor', (_time: string, args: string[]) => {
    if (args.some((each) => each.includes(`{${namespace}}`))) lines.push(args[0]?.toUpperCase() ?? '');
  });
  await look();
  await redis.ping();
  const shallow = [...lines];
  await look({ deep: true });
  await expect.poll(() => lines.filter((each) => each === 'SCAN').length).toBeGreaterThan(0);
  expect(shallow.length).toBeGreaterThan(0);
  expect(shallow.filter((each) => each === 'SCAN' || each === 'KEYS')).toEqual([]);
  monitor.disconnect();
  redis.disconnect();
  await place.close();
});
