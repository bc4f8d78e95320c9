import type { TaskEntry } from '../store/store.js';
import type { HandlerEnd } from './handler-end.js';
import type { HandlerRun, HandlerStart } from './handler-run.js';
import { startHandler } from './handler-run.js';
import type { StopPatience } from './handler-stop.js';
import { HandlerStop } from './handler-stop.js';
import { ProgressLines } from './progress-lines.js';

const timeoutPatience: StopPatience = { terminateMs: 2_000, killMs: 4_000 };

export interface TimeLimit {
  ms: number;
  /** Counted from now on, or from when the handler itself runs. */
  from: 'now' | 'handler';
  reason: string;
}

/** A handler with its progress and its time limit, that runs. */
export class LimitedHandler {
  /** Never rejects; see HandlerRun. */
  readonly end: Promise<HandlerEnd | 'not-started'>;
  readonly #handler: HandlerRun;
  readonly #stop: HandlerStop;
  #timer: NodeJS.Timeout | undefined;
  #endsBy = Infinity;
  #timedOut = false;
  #begun = false;

  constructor(start: Omit<HandlerStart, 'progress'>, limit: TimeLimit | null) {
    const lines = new ProgressLines();
    const hold: TaskEntry = { task: start.row.id, entry: start.row.entry };
    const { progress } = start.ports;
    this.#handler = startHandler({
      ...start,
      progress: (update) => {
        lines.add(update);
        progress.changed(hold, lines);
      },
    });
    this.#stop = new HandlerStop(this.#handler);
    if (limit?.from === 'now') this.#limit(limit, performance.now());
    void this.#handler.started.then((startedAt) => {
      this.#begun = true;
      if (limit?.from === 'handler') this.#limit(limit, startedAt);
    });
    this.end = this.#ended();
  }

  /** Whether its time was over before it ended. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Whether it has ended: it has returned, or its process is gone. */
  get over(): boolean {
    return this.#stop.over;
  }

  /** Whether the handler itself was called. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Aborts its signal; it ends when it likes. */
  abort(reason: Error): void {
    this.#handler.abort(reason);
  }

  /** Asks it to end; a child that does not heed it is killed. */
  stop(reason: Error, patience: StopPatience): void {
    this.#stop.stop(reason, patience);
  }

  kill(): void {
    this.#handler.kill();
  }

  async #ended(): Promise<HandlerEnd | 'not-started'> {
    const end = await this.#handler.end;
    clearTimeout(this.#timer);
    // One that keeps the thread keeps the timer from telling.
    if (performance.now() > this.#endsBy) this.#timedOut = true;
    this.#stop.ended();
    return end;
  }

  #limit({ ms, reason }: TimeLimit, since: number): void {
    if (this.#stop.over) return;
    this.#endsBy = since + ms;
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#stop.stop(new DOMException(reason, 'TimeoutError'), timeoutPatience);
    }, this.#endsBy - performance.now());
  }
}
