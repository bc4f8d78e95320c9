import type { ExaminedHold } from '../locks/table-audit.js';
import type { AuditedTask } from '../store/audited-tasks.js';
import type { Suspect } from './audit-finding.js';
import { suspect } from './audit-finding.js';

export interface AuditContext {
  epoch: string;
  /** Incarnations of workers that have a row and are not reaped. What others hold is being cleaned up after them. */
  living: ReadonlySet<string>;
}

/** See the column of that name: a task that was given back is looked for by admission. */
const inNoEpoch = '0';

type Hold = NonNullable<ExaminedHold['hold']>;

/**
 * What is wrong between a task and its hold, or null. What another part of the protocol is about to do explains itself:
 * a claim under way, a mark to be taken out, an owner that is dead.
 */
export function judge(
  context: AuditContext,
  examined: ExaminedHold,
  task: AuditedTask | undefined,
): Suspect | null {
  const { hold } = examined;
  if (hold === null) return task === undefined ? null : judgeWithoutHold(context, task);
  const of = { task: examined.task, entry: hold.entry, owner: hold.owner, since: hold.since };
  if (hold.owner !== null && !context.living.has(hold.owner.incarnation)) {
    // The clean-up of its owner sees to it, if that can find it.
    return examined.fault?.fault === 'unregistered' ? suspect('hold-unregistered', of) : null;
  }
  if (hold.owner === null && (task?.takeOut ?? 0) >= hold.entry) return null;
  return judgeOver(of, hold, task) ?? judgeFault(of, examined) ?? judgeNotAdmitted(of, hold, task);
}

/** A pass died before it marked what it had entered. The next one finds that, unless the lane has lost its last worker. */
function judgeNotAdmitted(of: Partial<Suspect>, hold: Hold, task: AuditedTask | undefined): Suspect | null {
  const unmarked = hold.owner === null && task?.state === 'waiting' && task.admittedEpoch === inNoEpoch;
  return unmarked ? suspect('hold-not-admitted', of) : null;
}

function judgeOver(of: Partial<Suspect>, hold: Hold, task: AuditedTask | undefined): Suspect | null {
  if (task === undefined) return suspect('hold-without-task', of);
  if (isFinal(task)) return suspect('hold-of-settled-task', of);
  if (task.entry > hold.entry) return suspect('hold-of-earlier-entry', of);
  // The store has forgotten what the table knows: only people can tell which is right.
  if (task.entry < hold.entry) return suspect('hold-of-unknown-entry', of);
  // Nobody has it yet: it may be under way to be claimed by the owner of the hold.
  if (task.worker === null || task.worker === hold.owner?.incarnation) return null;
  return suspect('running-without-hold', of);
}

function judgeFault(of: Partial<Suspect>, { fault }: ExaminedHold): Suspect | null {
  if (fault === null) return null;
  switch (fault.fault) {
    case 'entering':
      return suspect('hold-unfinished', of);
    case 'unregistered':
      return suspect('hold-unregistered', of);
    case 'not-ready':
      return suspect('hold-not-ready', of);
    case 'lacks':
    default:
      return suspect('hold-lacks-resource', { ...of, resource: fault.resource });
  }
}

function judgeWithoutHold({ epoch, living }: AuditContext, task: AuditedTask): Suspect | null {
  const { id, state, entry, worker, due, admittedEpoch, takeOut } = task;
  const of = { task: id, entry };
  if (isFinal(task)) return null;
  if (state === 'waiting') {
    const admitted = due && admittedEpoch === epoch && (takeOut ?? 0) < entry;
    return admitted ? suspect('task-without-hold', of) : null;
  }
  if (worker === null) return suspect('rollback-without-hold', of);
  return living.has(worker) ? suspect('running-without-hold', of) : null;
}

function isFinal({ state }: AuditedTask): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled';
}
