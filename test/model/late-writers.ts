import type { FinishOutcome } from '../../src/store/finish.js';
import type { ClaimOutcome, GiveBackOutcome, TaskEntry } from '../../src/store/store.js';
import type { Call } from './process.js';
import type { Rows } from './rows.js';

interface Before {
  entry: number;
  worker: string | null;
}

/** G1: a late writer is refused by state, entry and worker: what a call changed was its caller's to change. */
export class LateWriters {
  readonly #rows: Rows;
  readonly #broken: (what: string) => void;
  #before = new Map<string, Before>();

  constructor(rows: Rows, broken: (what: string) => void) {
    this.#rows = rows;
    this.#broken = broken;
  }

  /** Called after every call of the store. */
  check(call: Call): void {
    if (call.to !== 'store') return;
    const before = this.#before;
    this.#before = new Map(this.#rows.tasks.map(({ id, entry, worker }) => [id, { entry, worker }]));
    const accepted = acceptedBy(call);
    if (accepted === null) return;
    const { worker, tasks } = accepted;
    for (const { task, entry } of tasks) {
      const was = before.get(task);
      const who = `${call.op} of worker ${worker} for ${task}, entry ${entry}, was accepted`;
      if (this.#rows.reaped.has(worker)) this.#broken(`${who}, although it is reaped`);
      if (was !== undefined && was.entry !== entry) this.#broken(`${who} at entry ${was.entry}`);
      if (was !== undefined && (was.worker ?? worker) !== worker)
        this.#broken(`${who} although ${was.worker} has it`);
    }
  }
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
  const worker = args[0] as string;
  if (op === 'finishTasks') {
    return { worker, tasks: (value as FinishOutcome[]).filter(({ outcome }) => outcome !== 'refused') };
  }
  if (op !== 'giveBackTasks') return null;
  return { worker, tasks: (value as GiveBackOutcome[]).filter(({ nextEntry }) => nextEntry !== 'refused') };
}
