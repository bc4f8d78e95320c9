import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Admission, NewTask, TaskEntry } from './store.js';
import { claimOne, insertOne, mustGet, newTask, openEpoch, register } from '../../test/store/rows.js';

/** Admission passes, and the epochs they work in. */
export function admissionConformance(open: () => Promise<OpenStore>): void {
  describe('admission', () => {
    let opened: OpenStore | undefined;
    let epoch: string;
    beforeEach(async () => {
      await opened?.close();
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    async function pass<T>(work: (admission: Admission) => Promise<T>): Promise<T> {
      const outcome = await (opened as OpenStore).store.admissionPass(work);
      if (outcome === 'busy-elsewhere') throw new Error('Somebody else has the pass.');
      return outcome;
    }

    async function insert(...tasks: Partial<NewTask>[]): Promise<string[]> {
      const rows = tasks.map((task) => newTask(task));
      await (opened as OpenStore).store.insertTasks(rows);
      return rows.map(({ id }) => id);
    }

    const needed = async (): Promise<boolean> => {
      const { lanes, due } = await (opened as OpenStore).store.admissionNeeded(epoch);
      return lanes.length > 0 || due;
    };

    test('passes are numbered upward and tell the committed epoch', async () => {
      const first = await pass(async (admission) => admission);
      const second = await pass(async (admission) => admission);
      expect(first.epoch).toBe(epoch);
      expect(BigInt(second.pass)).toBeGreaterThan(BigInt(first.pass));
    });

    test('a pass that throws leaves nothing marked', async () => {
      const [id = ''] = await insert({});
      const failing = pass(async (admission) => {
        await admission.markAdmitted(epoch, [{ task: id, entry: 1 }]);
        throw new Error('died');
      });
      await expect(failing).rejects.toThrow('died');
      expect(await needed()).toBe(true);
    });

    test('lanes that are taken out: what waits in them goes on with the next entry, and keeps its place', async () => {
      const { store } = opened as OpenStore;
      const ids = await insert({ name: 'a' }, { name: 'a' }, { name: 'a' }, { name: 'b' }, { name: 'a' });
      const [first = '', second = '', third = '', other = '', last = ''] = ids;
      const entries = ids.map((task) => ({ task, entry: 1 }));
      await pass((admission) => admission.markAdmitted(epoch, entries.slice(0, 4)));
      await claimOne(store, await register(store), { task: first, entry: 1 });
      const { admitted } = await store.admissionNeeded(epoch);
      expect(admitted.map((lane) => (JSON.parse(lane) as string[])[1])).toEqual(['a', 'b']);
      const before = await mustGet(store, second);
      const takeOut = (limit: number, inEpoch = epoch): Promise<number> =>
        pass((admission) =>
          admission.takeOutUnserved({ epoch: inEpoch, lanes: admitted.slice(0, 1), limit }),
        );
      expect(await takeOut(10, '999')).toBe(0);
      expect([await takeOut(1), await takeOut(10), await takeOut(10)]).toEqual([1, 1, 0]);
      expect(await mustGet(store, second)).toEqual({ ...before, entry: 2 });
      expect(await mustGet(store, third)).toMatchObject({ state: 'waiting', entry: 2 });
      // What runs, what others serve, and what has not come in are left alone.
      for (const task of [first, other, last]) expect(await mustGet(store, task)).toMatchObject({ entry: 1 });
      expect(await pass((admission) => admission.markedTakeOuts(10))).toEqual([
        { task: second, entry: 1 },
        { task: third, entry: 1 },
      ]);
      expect((await store.admissionNeeded(epoch)).admitted).toEqual(admitted.slice(1));
    });

    test('a lane that is taken out: so is what was given back, once, since its hold may have moved on', async () => {
      const { store } = opened as OpenStore;
      const [back = '', never = ''] = await insert({ name: 'a' }, { name: 'a' });
      const entry = { task: back, entry: 1 };
      const worker = await register(store);
      await pass((admission) => admission.markAdmitted(epoch, [entry]));
      await claimOne(store, worker, entry);
      await store.giveBackTasks(worker, [{ ...entry, rollBack: false }]);
      const { admitted, lanes } = await store.admissionNeeded(epoch);
      expect([admitted, lanes]).toEqual([lanes, admitted]);
      const takeOut = (): Promise<number> =>
        pass((admission) => admission.takeOutUnserved({ epoch, lanes, limit: 10 }));
      expect([await takeOut(), await takeOut()]).toEqual([1, 0]);
      expect(await mustGet(store, back)).toMatchObject({ state: 'waiting', entry: 3 });
      expect(await mustGet(store, never)).toMatchObject({ entry: 1 });
      expect(await pass((admission) => admission.markedTakeOuts(10))).toEqual([{ task: back, entry: 2 }]);
      expect(await store.admissionNeeded(epoch)).toMatchObject({ admitted: [], lanes });
    });

    /** Tasks whose lane was taken out: one waits, one is admitted anew, one runs, one was canceled since. */
    async function takenOut(): Promise<{ ids: string[]; stale: TaskEntry[]; lane: string }> {
      const { store } = opened as OpenStore;
      const ids = await insert({}, {}, {}, {});
      const [waits = '', admitted = '', runs = '', canceled = ''] = ids;
      const entries = (entry: number, ...of: string[]): TaskEntry[] => of.map((task) => ({ task, entry }));
      await pass((admission) => admission.markAdmitted(epoch, entries(1, ...ids)));
      const [lane = ''] = (await store.admissionNeeded(epoch)).admitted;
      await pass((admission) => admission.takeOutUnserved({ epoch, lanes: [lane], limit: 10 }));
      await pass((admission) => admission.markAdmitted(epoch, entries(2, admitted)));
      await claimOne(store, await register(store), { task: runs, entry: 2 });
      await store.cancelTask(canceled);
      return { ids, lane, stale: [...entries(1, waits, admitted, runs), ...entries(2, canceled)] };
    }

    test('a stale take-out: what waits and nobody has admitted counts as given back, the rest stays', async () => {
      const { store } = opened as OpenStore;
      const { ids, stale, lane } = await takenOut();
      await pass((admission) => admission.clearTakeOuts([], stale));
      const audited = await store.auditedTasks(ids);
      const marks = new Map(
        audited.map(({ id, ...row }) => [id, [row.entry, row.admittedEpoch, row.takeOut]]),
      );
      expect(ids.map((id) => marks.get(id))).toEqual([
        [2, '-1', null],
        [2, epoch, null],
        [2, '0', null],
        [2, '0', null],
      ]);
      // So it is looked for where nobody serves its lane.
      expect(await pass((admission) => admission.takeOutUnserved({ epoch, lanes: [lane], limit: 10 }))).toBe(
        2,
      );
    });

    test('a stale take-out in a queue that is paused: the later entry is marked in its turn', async () => {
      const { store } = opened as OpenStore;
      const { ids } = await takenOut();
      await store.pauseQueue('default');
      const marked = await pass((admission) => admission.markedTakeOuts(10));
      await pass((admission) => admission.clearTakeOuts([], marked));
      const waiting = [ids[0], ids[1]].map((task) => ({ task, entry: 3 }));
      expect(await pass((admission) => admission.markedTakeOuts(10))).toEqual(waiting);
      await pass((admission) => admission.clearTakeOuts(waiting as TaskEntry[]));
      expect(await store.admissionNeeded(epoch)).toMatchObject({ takeOuts: false });
    });

    test('tasks come in order of place over all lanes given, after a place', async () => {
      const ids = await insert({ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'a' }, { name: 'b' });
      await pass(async (admission) => {
        const lanes = await admission.lanesToAdmit(epoch);
        expect(lanes.map((lane) => (JSON.parse(lane) as string[])[1])).toEqual(['a', 'b', 'c']);
        const [a = '', b = ''] = lanes;
        const request = { epoch, lanes: [a, b, a, 'no lane'], afterPlace: '0', limit: 3 };
        const first = await admission.tasksToAdmit(request);
        expect(first.map(({ id }) => id)).toEqual([ids[0], ids[1], ids[3]]);
        expect(first[0]).toEqual({
          ...{ id: ids[0], entry: 1, lane: a, priority: 0, place: first[0]?.place },
          ...{ exclusive: ['repo:7'], shared: ['store'] },
        });
        const rest = await admission.tasksToAdmit({ ...request, afterPlace: first.at(-1)?.place ?? '' });
        expect(rest.map(({ id }) => id)).toEqual([ids[4]]);
        expect(await admission.tasksToAdmit({ ...request, lanes: [] })).toEqual([]);
      });
    });

    test('what is marked is admitted in that epoch only', async () => {
      const [one = '', two = ''] = await insert({}, {});
      await pass(async (admission) => {
        expect(await admission.markAdmitted(epoch, [{ task: one, entry: 1 }])).toEqual([]);
        const lanes = await admission.lanesToAdmit(epoch);
        const left = await admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 10 });
        expect(left.map(({ id }) => id)).toEqual([two]);
        await admission.markAdmitted(epoch, [{ task: two, entry: 1 }]);
        expect(await admission.lanesToAdmit(epoch)).toEqual([]);
      });
      expect(await needed()).toBe(false);
      epoch = await openEpoch((opened as OpenStore).store, 'server-2');
      expect(await needed()).toBe(true);
      await pass(async (admission) => {
        const lanes = await admission.lanesToAdmit(epoch);
        const again = await admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 10 });
        expect(again.map(({ id }) => id)).toEqual([one, two]);
      });
    });

    test('lanes with tasks of several epochs are all found', async () => {
      const [one = '', two = ''] = await insert({ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'b' });
      await pass((admission) => admission.markAdmitted(epoch, [{ task: one, entry: 1 }]));
      epoch = await openEpoch((opened as OpenStore).store, 'server-2');
      await pass(async (admission) => {
        await admission.markAdmitted(epoch, [{ task: two, entry: 1 }]);
        const lanes = await admission.lanesToAdmit(epoch);
        expect(lanes).toHaveLength(2);
        expect(await admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 10 })).toHaveLength(3);
      });
    });

    test('a mark is refused where the task does not wait with that entry, and tells what runs with it', async () => {
      const { store } = opened as OpenStore;
      const worker = await register(store);
      const [runs = '', gone = '', moved = '', waits = ''] = await insert({}, {}, {}, {});
      await claimOne(store, worker, { task: runs, entry: 1 });
      await claimOne(store, worker, { task: gone, entry: 1 });
      await store.finishTasks(worker, [{ task: gone, entry: 1, state: 'completed', result: 1 }]);
      await store.giveBackTasks(worker, [{ task: moved, entry: 1 }]);
      const entries = [runs, gone, moved, waits].map((task) => ({ task, entry: 1 }));
      const refused = await pass((admission) => admission.markAdmitted(epoch, entries));
      const byTask = (a: { task: string }, b: { task: string }): number => (a.task < b.task ? -1 : 1);
      expect(refused.sort(byTask)).toEqual(
        [
          { task: runs, entry: 1, runs: true },
          { task: gone, entry: 1, runs: false },
          { task: moved, entry: 1, runs: false },
        ].sort(byTask),
      );
    });

    test('a scheduled task is no lane until it is made due, the earliest first', async () => {
      const { store } = opened as OpenStore;
      const [late = '', early = ''] = await insert(
        { runAt: '2999-01-01T00:00:00Z', name: 'late' },
        { runAt: '2000-01-01T00:00:00Z', name: 'past' },
        { runAt: '2999-01-02T00:00:00Z', name: 'later' },
      );
      await pass(async (admission) => {
        expect(await admission.makeDue(10)).toBe(0);
        expect((await admission.lanesToAdmit(epoch)).map((lane) => JSON.parse(lane)[1])).toEqual(['past']);
        await admission.markAdmitted(epoch, [{ task: early, entry: 1 }]);
      });
      expect(await needed()).toBe(false);
      await comeTrue(late);
      expect(await needed()).toBe(true);
      await pass(async (admission) => {
        expect(await admission.makeDue(1)).toBe(1);
        expect(await admission.makeDue(1)).toBe(0);
        expect((await admission.lanesToAdmit(epoch)).map((lane) => JSON.parse(lane)[1])).toEqual(['late']);
      });
      expect((await mustGet(store, late)).runAt).not.toBeNull();
    });

    /** The time of a scheduled task comes without anybody waiting for it. */
    async function comeTrue(id: string): Promise<void> {
      const { database, namespace } = opened as OpenStore;
      const text = `UPDATE "${namespace}".tasks SET run_at = now() - interval '1 second' WHERE id = $1`;
      await database.query(text, [id]);
    }

    test('what is given back or retried is to be admitted again', async () => {
      const { store } = opened as OpenStore;
      const worker = await register(store);
      const { id } = await insertOne(store);
      for (const entry of [1, 2]) {
        await pass((admission) => admission.markAdmitted(epoch, [{ task: id, entry }]));
        expect(await needed()).toBe(false);
        await claimOne(store, worker, { task: id, entry });
        expect(await needed()).toBe(false);
        if (entry === 1) await store.giveBackTasks(worker, [{ task: id, entry }]);
        else {
          const error = { code: 'Boom', message: 'boom' };
          await store.finishTasks(worker, [{ task: id, entry, state: 'retry', error, delayMs: 0 }]);
        }
        expect(await needed()).toBe(true);
      }
    });
  });
}
