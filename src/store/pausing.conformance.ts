import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Admission, NewTask, TaskEntry } from './store.js';
import {
  claimOf,
  claimOne,
  mustGet,
  newTask,
  openEpoch,
  register,
  runningTask,
} from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };

/** Pausing and resuming a queue: what waits blocks nobody, and comes back in order. */
export function pausingConformance(open: () => Promise<OpenStore>): void {
  describe('pausing', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeEach(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterEach(() => opened.close());

    async function insert(...tasks: Partial<NewTask>[]): Promise<string[]> {
      const rows = tasks.map((task) => newTask({ queue: 'q', ...task }));
      await opened.store.insertTasks(rows);
      return rows.map(({ id }) => id);
    }
    async function pass<T>(work: (admission: Admission) => Promise<T>): Promise<T> {
      const outcome = await opened.store.admissionPass(work);
      if (outcome === 'busy-elsewhere') throw new Error('Another pass is under way.');
      return outcome;
    }
    const admit = (...ids: string[]): Promise<unknown> =>
      pass((admission) =>
        admission.markAdmitted(
          epoch,
          ids.map((task) => ({ task, entry: 1 })),
        ),
      );
    const marked = (): Promise<TaskEntry[]> => pass((admission) => admission.markedTakeOuts(1_000));
    const admissible = (): Promise<string[]> =>
      pass(async (admission) => {
        const lanes = await admission.lanesToAdmit(epoch);
        const tasks = await admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 1_000 });
        return tasks.map(({ id }) => id);
      });

    test('what waits is left alone, its holds are to be taken out, its claims are refused', async () => {
      const { store } = opened;
      const [one = '', two = ''] = await insert({}, {});
      const [other = ''] = await insert({ queue: 'other' });
      await admit(one);
      await store.pauseQueue('q');
      expect(await marked()).toEqual([
        { task: one, entry: 1 },
        { task: two, entry: 1 },
      ]);
      for (const id of [one, two])
        expect(await mustGet(store, id)).toMatchObject({ state: 'waiting', entry: 2 });
      expect(await admissible()).toEqual([other]);
      await admit(other);
      await pass((admission) => admission.clearTakeOuts(tasksAt(1, one, two)));
      expect(await store.admissionNeeded(epoch)).toMatchObject({ lanes: [], takeOuts: false });
      const worker = await register(store);
      for (const entry of [1, 2]) {
        const claims = [claimOf(one, entry)];
        expect(await store.claimTasks({ worker, epoch, claims })).toMatchObject({ claimed: [] });
      }
      expect(await store.pausedQueues({ after: null, limit: 10 })).toMatchObject([{ queue: 'q' }]);
    });

    test('names that begin alike, or need quotes, are other queues', async () => {
      const queues = ['q', 'q"', 'q", "x', 'q\\', 'q ', 'q!', 'Q', 'qq', 'é', '[', '%'];
      const ids = await insert(...queues.map((queue) => ({ queue })));
      for (const [index, queue] of queues.entries()) {
        await opened.store.pauseQueue(queue);
        expect((await marked()).length).toBe(index + 1);
        expect(await admissible()).toEqual(ids.slice(index + 1));
      }
      for (const queue of queues) await opened.store.resumeQueue(queue);
      expect(await admissible()).toEqual(ids);
    });

    test('what runs, is being canceled or is not due is not disturbed', async () => {
      const { store } = opened;
      const runs = await runningTask(store, { queue: 'q' });
      const stops = await runningTask(store, { queue: 'q' });
      await store.cancelTask(stops.id);
      const [later = ''] = await insert({ runAt: '2999-01-01T00:00:00Z' });
      const ids = [runs.id, stops.id, later];
      const before = await Promise.all(ids.map((id) => mustGet(store, id)));
      await store.pauseQueue('q');
      expect(await Promise.all(ids.map((id) => mustGet(store, id)))).toEqual(before);
      const finish = { task: runs.id, entry: 1, state: 'completed' as const, result: 1 };
      expect(await store.finishTasks(runs.worker, [finish])).toMatchObject([{ outcome: 'completed' }]);
    });

    test('retries, give-backs and tasks dispatched meanwhile wait until it is resumed', async () => {
      const { store } = opened;
      await store.pauseQueue('q');
      const retried = await runAnyway({});
      await store.finishTasks(retried.worker, [
        { task: retried.id, entry: 1, state: 'retry', error, delayMs: 0 },
      ]);
      const given = await runAnyway({});
      expect(await store.giveBackTasks(given.worker, [{ task: given.id, entry: 1 }])).toEqual([
        { task: given.id, entry: 1, nextEntry: 2, rollsBack: false, paused: true },
      ]);
      const byHand = await insert({});
      await store.cancelTask(byHand[0] ?? '');
      await store.retryTask(byHand[0] ?? '');
      const [fresh = ''] = await insert({});
      expect(await admissible()).toEqual([]);
      await store.resumeQueue('q');
      expect(await admissible()).toEqual([retried.id, given.id, byHand[0], fresh]);
    });

    /** It was claimed before the pause. */
    async function runAnyway(task: Partial<NewTask>): Promise<{ id: string; worker: string }> {
      await opened.store.resumeQueue('q');
      const [id = ''] = await insert(task);
      const worker = await register(opened.store);
      await claimOne(opened.store, worker, { task: id, entry: 1 });
      await opened.store.pauseQueue('q');
      return { id, worker };
    }

    test('resumed, they come in the order of before, behind what came meanwhile elsewhere', async () => {
      const { store } = opened;
      const ids = await insert({ name: 'b' }, { name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'a' });
      await admit(ids[0] ?? '', ids[1] ?? '', ids[2] ?? '');
      await store.pauseQueue('q');
      const meanwhile = await insert({ queue: 'other' });
      await store.resumeQueue('q');
      expect(await admissible()).toEqual([...meanwhile, ...ids]);
      expect(await store.pausedQueues({ after: null, limit: 10 })).toEqual([]);
    });

    test('again changes nothing, and what is not paused can be resumed', async () => {
      const { store } = opened;
      const [id = ''] = await insert({});
      await store.resumeQueue('q');
      const place = (await mustGet(store, id)).place;
      await store.pauseQueue('q');
      const [first] = await store.pausedQueues({ after: null, limit: 1 });
      await store.pauseQueue('q');
      expect(await mustGet(store, id)).toMatchObject({ entry: 2, place });
      expect(await store.pausedQueues({ after: null, limit: 1 })).toEqual([first]);
      await store.resumeQueue('q');
      await store.resumeQueue('q');
      expect(await mustGet(store, id)).toMatchObject({ entry: 2, state: 'waiting' });
    });

    test('a canceled task of a paused queue leaves no mark behind that is older', async () => {
      const { store } = opened;
      const [id = ''] = await insert({});
      await store.pauseQueue('q');
      await store.cancelTask(id);
      expect(await marked()).toEqual([{ task: id, entry: 2 }]);
    });

    test('what a caller that died has begun, admission goes on with', async () => {
      const { store, database, namespace } = opened;
      const ids = await insert({}, {}, {}, {}, {});
      await admit(...ids);
      await database.query(`SELECT "${namespace}".pause_queue('q')`);
      expect(await store.admissionNeeded(epoch)).toMatchObject({ takeOuts: true });
      expect(await pass((admission) => admission.continuePauses(2))).toBe(true);
      expect(await marked()).toHaveLength(2);
      expect(await pass((admission) => admission.continuePauses(2))).toBe(true);
      expect(await pass((admission) => admission.continuePauses(2))).toBe(false);
      expect(await marked()).toEqual(tasksAt(1, ...ids));
      await pass((admission) => admission.clearTakeOuts(tasksAt(1, ...ids)));
      expect(await store.admissionNeeded(epoch)).toMatchObject({ takeOuts: false, lanes: [] });

      const meanwhile = await insert({ queue: 'other' });
      await database.query(`SELECT "${namespace}".resume_queue('q')`);
      expect(await pass((admission) => admission.continuePauses(2))).toBe(true);
      expect(await admissible()).toEqual(meanwhile);
      // Paused again before all have their places, and resumed at last.
      await store.pauseQueue('q');
      expect(await admissible()).toEqual(meanwhile);
      await store.resumeQueue('q');
      const resumed = await admissible();
      expect(resumed[0]).toBe(meanwhile[0]);
      expect(resumed.toSorted()).toEqual([...meanwhile, ...ids].toSorted());
    });

    test('the name is checked', async () => {
      for (const queue of ['', 'x'.repeat(1_025)]) {
        await expect(opened.store.pauseQueue(queue)).rejects.toMatchObject({ code: 'InvalidTask' });
        await expect(opened.store.resumeQueue(queue)).rejects.toMatchObject({ code: 'InvalidTask' });
      }
    });
  });
}

function tasksAt(entry: number, ...ids: string[]): TaskEntry[] {
  return ids.map((task) => ({ task, entry }));
}
