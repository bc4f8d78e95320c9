import type { EnteringHold, EnterNowAnswer } from '../locks/lock-table.js';
import type { InsertRunningOutcome, LockRequest, NewTask, TaskEntry, TaskRow } from '../store/store.js';
import type { Owner } from '../owner.js';
import type { Discarding } from '../worker/discarding.js';
import type { Incarnation } from '../worker/incarnation.js';
import type { KnownHolds } from '../worker/known-holds.js';
import type { Releasing } from '../worker/releasing.js';
import { faultPoint } from '../fault-points.js';
import { Fenced, ResourcesBusy, Unavailable } from '../errors.js';
import { laneText } from '../lane.js';
import { EpochRefused } from '../locks/lock-table.js';
import { inCurrentOrNextEpoch } from '../recovery/in-current-epoch.js';

/** What is inserted as running: a task, or with `lock` an ad-hoc lock. */
export interface OwnInsert {
  task: Omit<NewTask, 'runAt' | 'uniqueKey' | 'uniqueMode'>;
  lock: boolean;
}

export interface OwnInsertsPorts {
  incarnation: Incarnation;
  known: KnownHolds;
  discarding: Discarding;
  releasing: Releasing;
}

/** What came of a request that was sent. `lost`: it may be there, or come in late. */
export type Requested = { status: 'requested' } | { status: 'lost'; number: number; error: unknown };

/** How often an insert follows the epoch. */
const maxEpochs = 3;

/** A hold whose place does not matter: it waits in no queue. */
const noPlace = '0';

/**
 * The rows that this incarnation inserts for itself. Each insert has a number, so that one whose reply was lost can be
 * made impossible before its hold goes.
 */
export class OwnInserts {
  readonly #ports: OwnInsertsPorts;
  #number = 0;

  constructor(ports: OwnInsertsPorts) {
    this.#ports = ports;
  }

  /** How many were sent. */
  get sent(): number {
    return this.#number;
  }

  /**
   * Takes all resources now and inserts the row as running. Throws ResourcesBusy, Fenced or Unavailable; nothing is
   * left then, or nothing will be once what is in doubt has been discarded.
   */
  async insertRunning(insert: OwnInsert): Promise<TaskRow> {
    for (let epochs = 1; epochs <= maxEpochs; epochs += 1) {
      const outcome = await this.#enterAndInsert(insert);
      if (outcome.status === 'reaped') throw this.#reaped();
      if (outcome.status !== 'running') continue;
      // G1: the reply may have taken longer than this incarnation may act; then the sweep has it.
      if (this.#ports.incarnation.mayAct()) return outcome.row;
      throw new Fenced('This process could not prove in time that it is alive.');
    }
    throw new Unavailable('The epoch of the lock table changed again and again.');
  }

  /** Inserts a request that waits. Throws Fenced. */
  async request(lock: LockRequest['lock']): Promise<Requested> {
    const { store, owner } = this.#ports.incarnation;
    for (;;) {
      const number = (this.#number += 1);
      try {
        const outcome = await store.requestLock({ requester: owner.incarnation, number, lock });
        faultPoint('lock-requested');
        if (outcome === 'requested') return { status: 'requested' };
        if (outcome === 'reaped') throw this.#reaped();
      } catch (error) {
        if (error instanceof Fenced) throw error;
        return { status: 'lost', number, error };
      }
    }
  }

  async #enterAndInsert({ task, lock }: OwnInsert): Promise<InsertRunningOutcome> {
    const { incarnation, known } = this.#ports;
    const hold = { task: task.id, entry: 1 };
    known.remember(hold, 'claiming');
    const { epoch, fence } = await this.#enter(holdOf({ task, lock }, incarnation.owner), hold);
    const outcome = await this.#insert({ task, lock }, hold, epoch, fence);
    if (outcome.status === 'epoch') {
      // It is gone with its epoch, and must not be released in another.
      known.forget(hold);
      incarnation.epoch.refused(epoch);
    }
    return outcome;
  }

  async #enter(entering: EnteringHold, hold: TaskEntry): Promise<{ epoch: string; fence: string }> {
    const { incarnation, known, releasing } = this.#ports;
    try {
      const entered = await inCurrentOrNextEpoch(incarnation, async (epoch) => ({
        epoch,
        answer: await this.#enterListed(epoch, entering),
      }));
      const { epoch, answer } = entered;
      faultPoint('own-hold-entered');
      if (answer.status === 'owned') return { epoch, fence: answer.fence };
      if (answer.status === 'present') throw new Unavailable(`Task ${hold.task} has a hold already.`);
      known.forget(hold);
      throw new ResourcesBusy(`Resource ${JSON.stringify(answer.resource)} is held or waited for.`);
    } catch (error) {
      if (error instanceof ResourcesBusy) throw error;
      // It may be there, or come in late: the release is repeated until it is answered, and a comparison with memory
      // finds what comes after that.
      releasing.add([{ ...hold, settled: false, waits: false }]);
      if (!(error instanceof EpochRefused)) throw error;
      throw new Unavailable('The lock table was being rebuilt.', { cause: error });
    }
  }

  async #enterListed(epoch: string, hold: EnteringHold): Promise<EnterNowAnswer> {
    const { table, owner } = this.#ports.incarnation;
    for (;;) {
      const answers = await table.enterNow(epoch, owner, [hold]);
      if (answers !== 'unlisted') return answers[0] as EnterNowAnswer;
      await table.listOwner(epoch, owner);
    }
  }

  async #insert(
    insert: OwnInsert,
    hold: TaskEntry,
    epoch: string,
    fence: string,
  ): Promise<InsertRunningOutcome> {
    const { store, owner } = this.#ports.incarnation;
    for (;;) {
      const number = (this.#number += 1);
      try {
        const worker = owner.incarnation;
        const outcome = await store.insertRunning({ ...insert, worker, epoch, number, fence });
        faultPoint('own-row-inserted');
        if (outcome.status !== 'void') return outcome;
      } catch (error) {
        this.#ports.discarding.add([{ ...hold, lostInsert: number }]);
        throw error;
      }
    }
  }

  #reaped(): Fenced {
    this.#ports.incarnation.fence('it was reaped');
    return new Fenced('This process was declared dead, so it holds nothing any more.');
  }
}

function holdOf({ task, lock }: OwnInsert, { incarnation }: Owner): EnteringHold {
  const { id, queue, name, needs, priority, exclusive, shared } = task;
  const lane = laneText({ queue, name, needs, ...(lock && { requester: incarnation }) });
  return { task: id, entry: 1, lane, priority, place: noPlace, exclusive, shared };
}
