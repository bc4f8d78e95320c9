import type { FinishOutcome } from '../../src/store/finish.js';
import type {
  ClaimOutcome,
  GiveBackOutcome,
  InsertRunning,
  InsertRunningOutcome,
  LockRequest,
  TaskEntry,
} from '../../src/store/store.js';
import type { Call } from './process.js';
import type { Rows } from './rows.js';

interface Before {
  entry: number;
  worker: string | null;
}

/** Whose each task is, and with which entry, before a call. */
export function tasksBefore(rows: Rows): ReadonlyMap<string, Before> {
  return new Map(rows.tasks.map(({ id, entry, worker }) => [id, { entry, worker }]));
}

/** G1: a late writer is refused by state, entry and worker: what a call changed was its caller's to change. */
export function lateWriter(call: Call, before: ReadonlyMap<string, Before>, rows: Rows): string | null {
  const accepted = call.to === 'store' ? acceptedBy(call) : null;
  if (accepted === null) return null;
  const { worker, tasks } = accepted;
  for (const { task, entry } of tasks) {
    const was = before.get(task);
    const who = `${call.op} of worker ${worker} for ${task}, entry ${entry}, was accepted`;
    if (rows.reaped.has(worker)) return `${who}, although it is reaped`;
    if (was !== undefined && was.entry !== entry) return `${who} at entry ${was.entry}`;
    if (was !== undefined && (was.worker ?? worker) !== worker) return `${who} although ${was.worker} has it`;
  }
  return null;
}

function acceptedBy({ op, args, answer }: Call): { worker: string; tasks: TaskEntry[] } | null {
  if (answer === null || !('value' in answer)) return null;
  const { value } = answer;
  if (op === 'claimTasks') {
    const { worker } = args[0] as { worker: string };
    const outcome = value as ClaimOutcome;
    const claimed = outcome.status === 'claimed' ? outcome.claimed : [];
    return { worker, tasks: claimed.map(({ id, entry }) => ({ task: id, entry })) };
  }
  if (op === 'insertRunning') {
    const { worker, task } = args[0] as InsertRunning;
    return (value as InsertRunningOutcome).status === 'running'
      ? { worker, tasks: [{ task: task.id, entry: 1 }] }
      : null;
  }
  if (op === 'requestLock') {
    const { requester, lock } = args[0] as LockRequest;
    return value === 'requested' ? { worker: requester, tasks: [{ task: lock.id, entry: 1 }] } : null;
  }
  const worker = args[0] as string;
  if (op === 'finishTasks') {
    return { worker, tasks: (value as FinishOutcome[]).filter(({ outcome }) => outcome !== 'refused') };
  }
  if (op !== 'giveBackTasks') return null;
  return { worker, tasks: (value as GiveBackOutcome[]).filter(({ nextEntry }) => nextEntry !== 'refused') };
}
