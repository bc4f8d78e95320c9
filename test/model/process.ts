import type { WorkerParts } from '../../src/worker/worker-parts.js';
import type { KnownHolds } from '../../src/worker/known-holds.js';
import { digest } from './digest.js';

/** A call of a store or the table, from when it was sent. */
export interface Call {
  id: number;
  process: ModelProcess;
  to: 'store' | 'table' | 'wait';
  op: string;
  args: unknown[];
  /** The caller has given up on it, or is dead: it may be executed all the same, or never. */
  orphaned: boolean;
  answer: { value: unknown } | { error: unknown } | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface Timer {
  id: number;
  process: ModelProcess;
  at: number;
  ms: number;
  run(): void;
  /** What the stores were like when it was set: see World.mayRing. */
  setIn: number;
  setAfter: number;
  /** Set after a fault: it need not wait for a change. */
  afterFault: boolean;
}

/** A handler that was called and has not returned. */
export interface RunningHandler {
  process: ModelProcess;
  kind: 'run' | 'rollback';
  task: string;
  entry: number;
  end(how: 'completes' | 'throws' | 'is stopped'): void;
  signal: AbortSignal;
}

/**
 * `frozen`: it stands still and its time is over, so that its children were killed. `woken`: it goes on, and has not
 * noticed yet. `fenced`: it has.
 */
export type Status = 'live' | 'frozen' | 'woken' | 'fenced' | 'crashed' | 'stopped';

/** One process of the fleet. All that it knows is a function of what it was told, in order: `history`. */
export class ModelProcess {
  readonly name: string;
  readonly kind: 'worker' | 'admitter' | 'sweeper' | 'client';
  /** Of a worker. */
  incarnation = '';
  parts: (WorkerParts & { known: KnownHolds }) | null = null;
  status: Status = 'live';
  history = '';
  now = 0;
  calls: Call[] = [];
  timers: Timer[] = [];
  handlers: RunningHandler[] = [];
  /** Whether something that it was told last was a fault. */
  faulted = false;
  /** Its heartbeat has stopped: its counter stands still from here on. */
  beatsNoMore = false;
  /** The epoch that it works in. */
  epoch: string | null = null;
  beats = 0;
  /** How often it was told something that is no timer. */
  deliveries = 0;
  fence: () => void = () => {};
  /** What else it does when it is asked, by name. */
  readonly programs: Map<string, () => Promise<unknown>> = new Map();
  readonly busyWith: Set<string> = new Set();
  readonly begunIn: Map<string, number> = new Map();

  constructor(name: string, kind: ModelProcess['kind']) {
    this.name = name;
    this.kind = kind;
  }

  /** Whether it does anything when it is told something. */
  get runs(): boolean {
    return this.status === 'live' || this.status === 'woken' || this.status === 'fenced';
  }

  /** Whether it could prove that it is alive. */
  get mayAct(): boolean {
    return this.status === 'live';
  }

  get isDead(): boolean {
    return this.status !== 'live' || this.beatsNoMore;
  }

  /**
   * Whether it knows nothing but the epoch, so that it does not matter any more how it came there: nothing is under way,
   * and nothing is still to be done.
   */
  get isIdle(): boolean {
    if (this.beats > 0 || this.busyWith.size > 0 || this.begunIn.size > 0) return false;
    if (this.kind === 'admitter') return this.calls.length === 0 && this.timers.every(({ ms }) => ms > 1_000);
    if (this.kind !== 'worker' || this.parts === null || this.timers.length > 0) return false;
    const { finishing, releasing, givingBack, attempts, known } = this.parts;
    const pending =
      finishing.pending + releasing.pending + givingBack.pending + attempts.running + known.size;
    return pending === 0 && this.calls.every(({ to }) => to === 'wait');
  }

  told(what: string): void {
    this.history = digest(`${this.history}|${what}`);
  }
}
