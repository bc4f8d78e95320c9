import type { WorkerParts } from '../../src/worker/worker-parts.js';
import type { KnownHolds } from '../../src/worker/known-holds.js';
import type { TimeHost } from './virtual-time.js';
import { drained, giveTimeTo } from './virtual-time.js';

/** A call as a process sent it. */
export interface SentCall {
  /** Of this process only. */
  id: number;
  to: 'store' | 'table' | 'world' | 'wait';
  op: string;
  args: unknown[];
}

export type Answer = { value: unknown } | { error: unknown };

export interface SetTimer {
  id: number;
  ms: number;
}

export interface CalledHandler {
  id: number;
  /** `lock`: no handler, but somebody who holds an ad-hoc lock. */
  kind: 'run' | 'rollback' | 'lock';
  task: string;
  entry: number;
  aborted: boolean;
}

export type HandlerEnd = 'completes' | 'throws' | 'is stopped';

/**
 * `frozen`: it stands still and its time is over, so that its children were killed. `woken`: it goes on, and has not
 * noticed yet. `fenced`: it has.
 */
export type Status = 'live' | 'frozen' | 'woken' | 'fenced' | 'crashed' | 'stopped';

/** All that a process is ever told. */
export type Told =
  | { what: 'answer'; call: number; answer: Answer }
  | { what: 'ring'; timer: number }
  | { what: 'begin'; program: string }
  | { what: 'handler'; handler: number; how: HandlerEnd }
  | { what: 'fence' };

/** What it did that others see at once, in order. */
export type Effect =
  | { what: 'begins'; handler: CalledHandler }
  | { what: 'ends'; handler: number }
  | { what: 'abandons'; transaction: number }
  | { what: 'fails'; program: string }
  | { what: 'stops' };

interface Pending<T> {
  seen: T;
  happen(answer?: unknown): void;
  fail(error: unknown): void;
}

type PendingTimer = { id: number; ms: number; at: number; run: () => void };
type PendingHandler = CalledHandler & { signal: AbortSignal; end: (how: HandlerEnd) => void };

/**
 * The real code of one process, apart from all others: it goes on when it is told something, until it waits for the next
 * thing. Nothing reaches it but what it is told, so that all it does is a function of that.
 */
export class LocalProcess implements TimeHost {
  readonly name: string;
  readonly incarnation: string;
  parts: (WorkerParts & { known: KnownHolds }) | null = null;
  status: Status = 'live';
  /** Its heartbeat has stopped: its counter stands still from here on. */
  beatsNoMore = false;
  /** The epoch that it works in. */
  epoch: string | null = null;
  fence: () => void = () => {};
  /** What else it does when it is asked, by name. */
  readonly programs: Map<string, () => Promise<unknown>> = new Map();
  readonly busyWith: Set<string> = new Set();
  readonly calls: Map<number, Pending<SentCall>> = new Map();
  readonly timers: Map<number, PendingTimer> = new Map();
  readonly handlers: Map<number, PendingHandler> = new Map();
  effects: Effect[] = [];
  #now = 0;
  #ids = 0;
  #drawn = 0;

  constructor(name: string, incarnation: string) {
    this.name = name;
    this.incarnation = incarnation;
  }

  async start(program: (process: LocalProcess) => unknown): Promise<void> {
    giveTimeTo(this);
    void program(this);
    await drained();
  }

  /** Goes on with something that it is told, in the status that it has then. */
  async take(status: Status, told: Told): Promise<void> {
    giveTimeTo(this);
    this.status = status;
    this.effects = [];
    this.#happen(told);
    await drained();
  }

  /** Whether it could prove that it is alive. */
  get mayAct(): boolean {
    return this.status === 'live';
  }

  /** Whether nothing is under way in it, but perhaps a poll or a long pause. */
  get isIdle(): boolean {
    if (this.busyWith.size > 0) return false;
    if (this.parts === null) return this.calls.size === 0 && this.pauses.every((ms) => ms > 1_000);
    const { finishing, releasing, givingBack, attempts, known } = this.parts;
    const pending =
      finishing.pending + releasing.pending + givingBack.pending + attempts.running + known.size;
    return (
      pending === 0 &&
      this.timers.size === 0 &&
      [...this.calls.values()].every(({ seen }) => seen.to === 'wait')
    );
  }

  get pauses(): number[] {
    return [...this.timers.values()].map(({ ms }) => ms);
  }

  send(to: SentCall['to'], op: string, args: unknown[]): Promise<unknown> {
    const id = ++this.#ids;
    return new Promise((happen, fail) => {
      // What becomes of the arguments later is no part of what was sent.
      this.calls.set(id, { seen: { id, to, op, args: structuredClone(args) }, happen, fail });
    });
  }

  /** Ends its poll. */
  endWaits(): void {
    for (const [id, { seen, happen }] of this.calls) {
      if (seen.to !== 'wait') continue;
      this.calls.delete(id);
      happen('timeout');
    }
  }

  /** A handler was called, and runs until it is told how it ends. */
  callHandler(
    handler: Pick<CalledHandler, 'kind' | 'task' | 'entry'>,
    signal: AbortSignal,
    ended: (how: HandlerEnd) => void,
  ): void {
    const id = ++this.#ids;
    const end = (how: HandlerEnd): void => {
      if (!this.handlers.delete(id)) return;
      this.effects.push({ what: 'ends', handler: id });
      ended(how);
    };
    this.handlers.set(id, { ...handler, id, aborted: false, signal, end });
    this.effects.push({ what: 'begins', handler: { ...handler, id, aborted: false } });
    // A fence stops the code itself: children are killed, and inline code is not gone on with.
    signal.addEventListener('abort', () => {
      if (this.status === 'fenced') end('is stopped');
    });
  }

  now(): number {
    return this.#now;
  }

  setTimer(run: () => void, ms: number): number {
    const id = ++this.#ids;
    this.timers.set(id, { id, ms, run, at: this.#now + ms });
    return id;
  }

  clearTimer(timer: number): void {
    this.timers.delete(timer);
  }

  drawId(): string {
    return `${this.name}#${++this.#drawn}`;
  }

  #happen(told: Told): void {
    switch (told.what) {
      case 'answer':
        return this.#hear(told.call, told.answer);
      case 'ring': {
        const timer = this.timers.get(told.timer) as PendingTimer;
        this.timers.delete(timer.id);
        this.#now = Math.max(this.#now, timer.at);
        return timer.run();
      }
      case 'begin':
        return void this.#run(told.program);
      case 'handler':
        return this.handlers.get(told.handler)?.end(told.how);
      case 'fence':
      default:
        return this.fence();
    }
  }

  #hear(id: number, answer: Answer): void {
    const call = this.calls.get(id) as Pending<SentCall>;
    this.calls.delete(id);
    if ('error' in answer) call.fail(answer.error);
    else call.happen(structuredClone(answer.value));
  }

  async #run(name: string): Promise<void> {
    this.busyWith.add(name);
    try {
      await this.programs.get(name)?.();
    } catch {
      this.effects.push({ what: 'fails', program: name });
    }
    this.busyWith.delete(name);
  }
}
