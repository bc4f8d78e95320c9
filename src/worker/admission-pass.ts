import type { EnterAnswer, EnteringHold } from '../locks/lock-table.js';
import type { Admission, HoldSource, TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import type { Offer } from './served-lanes.js';
import { faultPoint } from '../fault-points.js';
import { servedLanes } from './served-lanes.js';

/** At most so many tasks are entered and marked in one transaction: their claims wait for its commit. */
export const tasksPerPass = 500;
const fewestTasksPerPass = 20;
/** A worker learns with small steps how much this machine bears. */
export const firstPassSize = 50;
const pagesPerPass = 20;

/**
 * How many tasks the next pass takes. The server ends a pass that stalls, so one that was ended is repeated with
 * half as many: on a machine that is overloaded, small steps get there.
 */
export function nextPassSize(size: number, outcome: 'done' | 'failed'): number {
  return outcome === 'done' ? Math.min(size * 2, tasksPerPass) : Math.max(size / 2, fewestTasksPerPass);
}

/** Before every place. */
export const firstPlace = '0';

/**
 * `done`: how many tasks were admitted; `next` is the place to go on from where the pass ended before the tasks
 * did, else null. `epoch`: the store has committed another one. `older-pass`: a later pass is under way.
 */
export type PassOutcome =
  | { status: 'done'; admitted: number; next: string | null; takeOuts: TaskEntry[] }
  | { status: 'epoch' | 'older-pass' | 'busy-elsewhere' };

export interface PassRequest {
  epoch: string;
  /** Places up to this one were looked at already. */
  afterPlace: string;
  /** What live workers serve. */
  offers: Offer[];
  /** Lanes that nobody has served for a TTL, as far as this process knows. Default: none. */
  unserved?: string[];
  /** At most so many tasks. */
  limit: number;
}

/**
 * One pass: select, enter, mark, commit. A task is entered before it is marked, so a pass that dies in between
 * is repeated by the next one, which finds its holds `already` there. `takeOuts` are the holds that were entered
 * for tasks that did not wait with that entry any more: only what a committed pass found may be taken out.
 */
export async function admissionPass(
  { store, table }: Pick<Incarnation, 'store' | 'table'>,
  request: PassRequest,
): Promise<PassOutcome> {
  const { epoch } = request;
  const outcome = await store.admissionPass<PassOutcome>(async (admission) => {
    if (admission.epoch !== epoch) return { status: 'epoch' };
    const unfinished = await admission.continuePauses(tasksPerPass);
    // First: a task may come in only once the hold of its old entry is out, and those behind it must not pass it by.
    const tookOut = await takeOutMarked(table, admission, epoch);
    const admitted = await admitPages(table, admission, request);
    if (admitted.status !== 'done') return admitted;
    // Last, and entered by a later pass: a claim would not see before the commit that the time has come.
    const due = await admission.makeDue(tasksPerPass);
    // After the take-outs, and taken out by a later pass: where this one dies, these roll back or wait still, and their
    // holds must not be gone.
    const over = await admission.endUnclaimedRollbacks(tasksPerPass);
    const unserved = await markUnserved(admission, request);
    // What the holds that are gone made room for comes in with the next pass.
    const more = due > 0 || tookOut > 0 || over > 0 || unserved > 0 || unfinished;
    return more ? { ...admitted, next: admitted.next ?? firstPlace } : admitted;
  });
  return outcome === 'busy-elsewhere' ? { status: 'busy-elsewhere' } : outcome;
}

async function admitPages(
  table: Incarnation['table'],
  admission: Admission,
  { epoch, afterPlace, offers, limit }: PassRequest,
): Promise<PassOutcome> {
  const lanes = servedLanes(await admission.lanesToAdmit(epoch), offers);
  if (lanes.length === 0) return done(0, null, []);
  let after = afterPlace;
  for (let page = 0; page < pagesPerPass; page += 1) {
    const tasks = await admission.tasksToAdmit({ epoch, lanes, afterPlace: after, limit });
    after = tasks.at(-1)?.place ?? after;
    const answers = tasks.length === 0 ? [] : await table.enter(epoch, admission.pass, tasks.map(holdOf));
    if (answers === 'older-pass') return { status: 'older-pass' };
    if (answers.length > 0) faultPoint('admission-entered');
    const { admitted, takeOuts } = await mark(admission, epoch, tasks, answers);
    if (admitted > 0) faultPoint('admission-marked');
    if (tasks.length < limit) return done(admitted, null, takeOuts);
    // A page of busy tasks only is paged beyond: the release of their holds wakes admission.
    if (admitted > 0) return done(admitted, after, takeOuts);
  }
  return done(0, after, []);
}

/** G3: what nobody is there to take must not keep others from its resources. */
async function markUnserved(
  admission: Admission,
  { epoch, unserved = [], offers }: PassRequest,
): Promise<number> {
  const served = new Set(servedLanes(unserved, offers));
  const lanes = unserved.filter((lane) => !served.has(lane));
  return lanes.length === 0 ? 0 : admission.takeOutUnserved({ epoch, lanes, limit: tasksPerPass });
}

/**
 * Takes out the holds of entries that do not go on; returns how many marks are cleared. One that is owned keeps its mark:
 * a later pass looks again.
 */
async function takeOutMarked(
  table: Incarnation['table'],
  admission: Admission,
  epoch: string,
): Promise<number> {
  const marked = await admission.markedTakeOuts(tasksPerPass);
  if (marked.length === 0) return 0;
  // With its number: what an older pass sent may come after the mark is cleared, and nobody would look for it any more.
  const answers = await table.takeOut(epoch, marked, admission.pass);
  faultPoint('taken-out');
  const gone = marked.filter((_, index) => ['taken-out', 'gone'].includes(answers[index] ?? ''));
  const stale = marked.filter((_, index) => answers[index] === 'stale');
  await admission.clearTakeOuts(gone, stale);
  return gone.length + stale.length;
}

function done(admitted: number, next: string | null, takeOuts: TaskEntry[]): PassOutcome {
  return { status: 'done', admitted, next, takeOuts };
}

function holdOf({ id, entry, lane, priority, place, exclusive, shared }: HoldSource): EnteringHold {
  return { task: id, entry, lane, priority, place, exclusive, shared };
}

async function mark(
  admission: Admission,
  epoch: string,
  tasks: HoldSource[],
  answers: EnterAnswer[],
): Promise<{ admitted: number; takeOuts: TaskEntry[] }> {
  const inTable = tasks.filter((_, index) => ['entered', 'already'].includes(answers[index]?.status ?? ''));
  if (inTable.length === 0) return { admitted: 0, takeOuts: [] };
  const refused = await admission.markAdmitted(
    epoch,
    inTable.map(({ id, entry }) => ({ task: id, entry })),
  );
  const entered = new Set(
    tasks.filter((_, index) => answers[index]?.status === 'entered').map(({ id }) => id),
  );
  // What runs with that very entry was claimed before it was marked, and needs its hold.
  const takeOuts = refused.filter((one) => !one.runs && entered.has(one.task));
  return {
    // A row that somebody else holds is no progress: passes would follow each other until it is let go.
    admitted: inTable.length - refused.length,
    takeOuts: takeOuts.map(({ task, entry }) => ({ task, entry })),
  };
}
