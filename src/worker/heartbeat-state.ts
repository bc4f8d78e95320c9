import type { Moment } from './deadline.js';
import { currentMoment, isPast } from './deadline.js';

const statuses = ['starting', 'beating', 'reaped', 'late', 'lost', 'stopped'] as const;

/** `reaped`, `late` (the deadline passed) and `lost` (no heartbeat thread) fence; every one but the first two is for good. */
export type HeartbeatStatus = (typeof statuses)[number];

/** Integers only: floats in shared memory may be read half-written. */
const never = 2n ** 62n;

/**
 * Status and deadline in memory that the heartbeat thread and the thread of the worker share, so that each can
 * ask at any moment, and a fence that either of them saw holds for both.
 */
export class HeartbeatState {
  readonly memory: SharedArrayBuffer;
  readonly #status: Int32Array;
  readonly #deadline: BigInt64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(24)) {
    this.memory = memory;
    this.#status = new Int32Array(memory, 0, 1);
    this.#deadline = new BigInt64Array(memory, 8, 2);
  }

  get status(): HeartbeatStatus {
    return statuses[Atomics.load(this.#status, 0)] ?? 'lost';
  }

  /** null: none, or not yet. */
  get deadline(): Moment | null {
    const [monotonicMs, bootMs] = [Atomics.load(this.#deadline, 0), Atomics.load(this.#deadline, 1)];
    if (this.status === 'starting' || monotonicMs === never) return null;
    return { monotonicMs: Number(monotonicMs), bootMs: Number(bootMs) };
  }

  /**
   * Takes a confirmed beat: the next deadline, null where there is none. False, and nothing taken, once another
   * status than `beating` is reached. A confirmation that comes after the deadline comes too late: in between,
   * children may have been killed and answers refused (G1: a fence is never taken back).
   */
  confirm(deadline: Moment | null, now: Moment = currentMoment()): boolean {
    if (!this.mayAct(now) && this.status !== 'starting') return false;
    // Readers may see one new and one old value: the older of the two clocks' deadlines decides, which is safe.
    Atomics.store(this.#deadline, 0, deadline === null ? never : BigInt(Math.floor(deadline.monotonicMs)));
    Atomics.store(this.#deadline, 1, deadline === null ? never : BigInt(Math.floor(deadline.bootMs)));
    this.#move('starting', 'beating');
    return this.status === 'beating';
  }

  /** Finding the deadline passed, it fences. */
  mayAct(now: Moment = currentMoment()): boolean {
    if (this.status !== 'beating') return false;
    const { deadline } = this;
    if (deadline !== null && isPast(deadline, now)) this.end('late');
    return this.status === 'beating';
  }

  /** The first end stays. */
  end(status: Exclude<HeartbeatStatus, 'starting' | 'beating'>): void {
    if (!this.#move('beating', status)) this.#move('starting', status);
  }

  get fenced(): boolean {
    return ['reaped', 'late', 'lost'].includes(this.status);
  }

  #move(from: HeartbeatStatus, to: HeartbeatStatus): boolean {
    const expected = statuses.indexOf(from);
    return Atomics.compareExchange(this.#status, 0, expected, statuses.indexOf(to)) === expected;
  }
}
