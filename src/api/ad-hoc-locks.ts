import { v7 } from 'uuid';
import type { Resources } from '../resources.js';
import type { LockRequest, TaskEntry, TaskRow } from '../store/store.js';
import type { HandlerWait } from '../tasks/wait/deadlock-watch.js';
import type { Discarding } from '../worker/discarding.js';
import type { KnownHolds } from '../worker/known-holds.js';
import type { OwnInserts } from './own-inserts.js';
import { Unavailable } from '../errors.js';
import { lockQueue } from '../lane.js';
import { HeldLock } from './held-lock.js';
import { LockWait } from './lock-wait.js';

export interface AdHocLocksPorts {
  inserts: Pick<OwnInserts, 'insertRunning' | 'request'>;
  discarding: Pick<Discarding, 'add'>;
  known: KnownHolds;
  /** Rejects where a handler waits for what cannot come. */
  refuseDeadlock(wait: HandlerWait, signal: AbortSignal): Promise<void>;
  /** Whether this incarnation can prove right now that it is alive. */
  mayAct(): boolean;
  /** A request waits to be admitted, or one that was given up to be taken out. */
  wakeAdmission(): void;
  /** There is one more to claim for. */
  wakeClaiming(): void;
}

/** `not-handlers`: what a handler has asked for is left alone. */
export type Whose = 'all' | 'not-handlers';

export interface Acquire extends Resources {
  /** The task whose handler asks, if one does. */
  asker: string | null;
  waitMs: number;
  signal: AbortSignal | undefined;
}

/** What the row of every ad-hoc lock is called; its lane is its requester's all the same. */
export const lockName = 'holdfast.lock';

/** Every lock has this one. */
const entry = 1;

/** The ad-hoc locks of one incarnation: those that it holds and those that it waits for. */
export class AdHocLocks {
  readonly #ports: AdHocLocksPorts;
  readonly #waits = new Map<string, LockWait>();
  readonly #held = new Map<string, HeldLock>();
  readonly #requests = new Set<Promise<void>>();
  #lost = false;
  #everAsked = false;

  constructor(ports: AdHocLocksPorts) {
    this.#ports = ports;
  }

  /** How many claims there may be to make. */
  get waiting(): number {
    return this.#waits.size;
  }

  /** Whether it has ever waited. */
  get everAsked(): boolean {
    return this.#everAsked;
  }

  async acquire({ asker, waitMs, signal, exclusive, shared }: Acquire): Promise<HeldLock> {
    const lock = { id: v7(), name: lockName, queue: lockQueue, exclusive, shared, parent: asker };
    if (waitMs > 0) return this.#wait(lock, waitMs, signal);
    const task = { ...lock, payload: null, priority: 0, needs: {}, policies: null };
    return this.#hold(await this.#ports.inserts.insertRunning({ task, lock: true }));
  }

  /** Locks of this incarnation that it has just claimed. One that nobody waits for any more is let go. */
  granted(rows: readonly TaskRow[]): void {
    // G1: the reply may have taken longer than this incarnation may act; then the sweep has them.
    if (!this.#ports.mayAct()) return;
    for (const row of rows) {
      const wait = this.#waits.get(row.id);
      this.#waits.delete(row.id);
      if (wait?.state === 'waiting') wait.grant(this.#hold(row));
      else this.#discard({ task: row.id, entry });
    }
  }

  /** A call about these has an unknown outcome, or was refused: they are ended. */
  doubt(holds: readonly TaskEntry[]): void {
    for (const hold of holds) {
      this.#waits.get(hold.task)?.giveUp(new Unavailable('A reply about the lock was lost; it is not held.'));
      this.#discard(hold);
    }
  }

  /** Ends the waits. Resolves when nothing more comes of their requests. */
  async giveUp(reason: Error, whose: Whose): Promise<void> {
    for (const wait of this.#waits.values()) {
      if (whose === 'all' || wait.lock.parent === null) wait.giveUp(reason);
    }
    if (whose === 'all') await Promise.all(this.#requests);
  }

  /** Lets go of what is held, which goes on after this has returned. */
  letGo(reason: Error, whose: Whose): void {
    for (const lock of this.#held.values()) {
      if (whose === 'all' || lock.asker === null) lock.end(reason);
    }
  }

  /** G1: who holds is told; nothing is written any more. */
  lose(reason: Error): void {
    this.#lost = true;
    for (const lock of this.#held.values()) lock.lose(reason);
    this.#held.clear();
    for (const wait of this.#waits.values()) wait.giveUp(reason);
  }

  #hold(row: TaskRow): HeldLock {
    const hold = { task: row.id, entry };
    const lock = new HeldLock(row, () => this.#discard(hold));
    this.#ports.known.remember(hold, 'running');
    this.#held.set(row.id, lock);
    return lock;
  }

  #wait(lock: LockRequest['lock'], waitMs: number, signal: AbortSignal | undefined): Promise<HeldLock> {
    this.#everAsked = true;
    const onGivenUp = (): void => {
      this.#waits.delete(lock.id);
      // Until the request is answered, nobody knows whether there is anything to discard.
      if (wait.sent && !this.#lost) this.#discard({ task: lock.id, entry });
    };
    const wait = new LockWait(lock, { waitMs, signal, onGivenUp });
    // Before the request is answered: it may be granted by then.
    this.#waits.set(lock.id, wait);
    const request = this.#request(wait).finally(() => this.#requests.delete(request));
    this.#requests.add(request);
    return wait.granted;
  }

  /** Never rejects. */
  async #request(wait: LockWait): Promise<void> {
    const { inserts, wakeAdmission, wakeClaiming } = this.#ports;
    const hold = { task: wait.lock.id, entry };
    wakeClaiming();
    try {
      const requested = await inserts.request(wait.lock);
      wait.sent = true;
      if (requested.status === 'requested') {
        if (wait.state === 'given-up') this.#discard(hold);
        else {
          wakeAdmission();
          this.#refuseDeadlock(wait);
        }
        return;
      }
      // Granted meanwhile, it was there in time.
      if (wait.state === 'granted') return;
      wait.giveUp(requested.error);
      this.#discard(hold, requested.number);
    } catch (error) {
      wait.giveUp(error);
    }
  }

  #refuseDeadlock(wait: LockWait): void {
    const { id, parent } = wait.lock;
    if (parent === null) return;
    const over = new AbortController();
    this.#ports
      .refuseDeadlock({ waiter: id, asker: parent }, over.signal)
      .catch((error: unknown) => wait.giveUp(error));
    wait.granted.catch(() => {}).finally(() => over.abort());
  }

  /** The row goes, then the hold; of a request that waited, admission takes the hold out and deletes the row. */
  #discard(hold: TaskEntry, lostInsert: number | null = null): void {
    const onGone = (): void => {
      this.#held.get(hold.task)?.gone();
      this.#held.delete(hold.task);
      this.#ports.wakeAdmission();
    };
    this.#ports.discarding.add([{ ...hold, lostInsert, onGone }]);
  }
}
