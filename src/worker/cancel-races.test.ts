import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { newTask } from '../../test/store/rows.js';
import { interfering, type Step } from '../../test/worker/interfering.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, startWorker } from '../../test/worker/test-worker.js';
import type { TaskRow } from '../store/store.js';
import { NotFound, Unavailable, WrongState } from '../errors.js';
import { cancelTask, type CancelHint } from '../tasks/cancel-task.js';
import { defineTask } from '../tasks/definition.js';

const runs = 1_000;
const wave = 25;
const anyId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const resources = 40;
/** Of each call, as often before it is made as after its reply was lost. */
const faultProbability = 0.01;

let place: Place;
afterEach(() => place.close());

type Moment = 'before' | 'beside' | 'after';

interface Plan {
  method: string;
  moment: Moment;
  /** The how-many-eth call that names the task. */
  occurrence: number;
}

interface Canceled {
  answer: 'canceled' | 'canceling' | 'too-late' | 'too-early';
  answeredAt: number;
}

const races: [string, string[], number][] = [
  ['dispatch', ['insertTasks'], 1],
  ['admission', ['enter', 'markAdmitted'], 1],
  ['claim', ['claim', 'claimTasks'], 1],
  ['finish', ['finishTasks', 'release'], 1],
  ['a retry', ['finishTasks', 'release', 'enter', 'claimTasks'], 2],
];

test.each(races)(
  'a cancel that races with %s is decided once, whatever fails between the steps',
  async (_race, methods, occurrences) => {
    place = await serverPlace();
    const cancels = new Map<string, Promise<Canceled>>();
    const ids = Array.from({ length: runs }, () => newTask().id);
    const plans = new Map(ids.map((id) => [id, planOf(methods, occurrences)]));
    const seen = new Map<string, number>();
    const cancel = (id: string): Promise<Canceled> => {
      const asked = cancels.get(id) ?? cancelNow(place, id);
      cancels.set(id, asked);
      return asked;
    };
    const meet = async ({ method, args }: Step, moment: Moment, result?: unknown): Promise<void> => {
      const due: Promise<unknown>[] = [];
      for (const id of new Set(JSON.stringify([args, result]).match(anyId))) {
        const plan = plans.get(id);
        if (plan?.method !== method || plan.moment !== moment) continue;
        const times = (seen.get(id) ?? 0) + 1;
        seen.set(id, times);
        if (times === plan.occurrence) due.push(cancel(id));
      }
      // What was marked is locked until the pass commits: whoever cancels it waits for that.
      if (moment !== 'beside' && method !== 'markAdmitted') await Promise.all(due);
    };
    const interference = {
      before: async (step: Step) => {
        await meet(step, 'before');
        await meet(step, 'beside');
        perhapsFail(step, 'was not made');
      },
      after: async (step: Step, result: unknown) => {
        await meet(step, 'after', result);
        perhapsFail(step, 'gave a reply that was lost');
      },
    };
    const began: { task: string; entry: number; at: number }[] = [];
    const store = overriding(
      interfering(place.store, ['insertTasks', 'claimTasks', 'finishTasks'], interference),
      {
        admissionPass: (pass) =>
          place.store.admissionPass((admission) =>
            pass(interfering(admission, ['markAdmitted'], interference)),
          ),
      },
    );
    const table = interfering(place.table, ['enter', 'claim', 'release', 'move'], interference);
    place.definitions.set(
      'job',
      defineTask({
        name: 'job',
        maxAttempts: 2,
        backoff: { initial: 10, max: 10 },
        run: async (_payload, { task, attempt }) => {
          began.push({ task: task.id, entry: task.entry, at: performance.now() });
          await delay(Math.random() * 10);
          if (attempt === 1 && Math.random() < 0.5) throw new Error('The first attempt fails.');
        },
      }),
    );
    await startWorker(place, { store, table, concurrency: 20, ttlMs: 3_000 });
    for (let first = 0; first < runs; first += wave) {
      const tasks = ids
        .slice(first, first + wave)
        .map((id, index) => newTask({ id, name: 'job', exclusive: [`r${(first + index) % resources}`] }));
      await store.insertTasks(tasks).catch(() => {});
      // A dispatcher that does not know repeats it: tasks that are there stay as they are.
      await place.store.insertTasks(tasks);
      await place.table.wakeAdmission();
      await delay(Math.random() * 40);
    }
    const settled = async (): Promise<boolean> => (await place.store.settledAmong(ids)).length === ids.length;
    await waitUntil(settled, 'all are in a final state', 90_000);
    const met = new Set<string>();
    for (const id of ids) {
      const row = (await place.store.getTask(id)) as TaskRow;
      const canceled = await cancels.get(id);
      const begun = began.filter(({ task }) => task === id);
      // (task, entry) runs at most once.
      expect(new Set(begun.map(({ entry }) => entry)).size, id).toBe(begun.length);
      const answer = canceled?.answer ?? 'none';
      met.add(answer);
      expect(row.state === 'canceled', `${id}: ${answer}, ${row.state}`).toBe(
        answer === 'canceled' || answer === 'canceling',
      );
      if (canceled?.answer === 'canceled') {
        expect(begun.every(({ at }) => at < canceled.answeredAt)).toBe(true);
      }
    }
    // The race was one: it was won by both sides.
    expect(met.has('canceled') || met.has('canceling')).toBe(true);
    await holdsGone(place, ...ids);
    const marked = await place.store.admissionPass((admission) => admission.markedTakeOuts(10));
    if (marked !== 'busy-elsewhere') expect(marked).toEqual([]);
  },
  150_000,
);

function planOf(methods: string[], occurrences: number): Plan {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
  return {
    method: pick(methods),
    moment: pick(['before', 'beside', 'after']),
    occurrence: 1 + Math.floor(Math.random() * occurrences),
  };
}

async function cancelNow({ store, table }: Place, id: string): Promise<Canceled> {
  const ports = { store, hint: (hint: CancelHint) => void hint(table) };
  const answer = await cancelTask(ports, id).then(
    ({ state }) => state,
    (error: unknown) => {
      if (error instanceof WrongState) return 'too-late';
      if (error instanceof NotFound) return 'too-early';
      throw error;
    },
  );
  return { answer: answer as Canceled['answer'], answeredAt: performance.now() };
}

function perhapsFail({ method }: Step, what: string): void {
  if (Math.random() < faultProbability) throw new Unavailable(`The call of ${method} ${what}.`);
}
