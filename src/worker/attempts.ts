import type { FaultPoint } from '../fault-points.js';
import type { Finish } from '../store/finish.js';
import type { TaskEntry, TaskRow } from '../store/store.js';
import type { AttemptEnd } from './attempt-end.js';
import type { AttemptPorts } from './attempt-ports.js';
import type { Finishing } from './finishing.js';
import type { GivingBack } from './giving-back.js';
import type { KnownHolds } from './known-holds.js';
import type { LimitedHandler } from './limited-handler.js';
import type { Releasing } from './releasing.js';
import { faultPoint } from '../fault-points.js';
import { Attempt } from './attempt.js';
import { isRollback } from './attempt-end.js';
import { holdKey } from './known-holds.js';
import { Rollback } from './rollback.js';

export interface AttemptsOptions {
  ports: AttemptPorts;
  known: KnownHolds;
  finishing: Finishing;
  givingBack: GivingBack;
  releasing: Releasing;
  /** A slot is free: an attempt ended and the store knows. */
  onFree(): void;
  /** A task waits for its next attempt, which is due after so many milliseconds. */
  onRetry(delayMs: number): void;
}

/** After a child could not be started, in milliseconds, its slot stays taken: the next may fail alike. */
const notRunPauseMs = 1_000;

/** What a claim of this worker began: an attempt, or the roll-back of one. */
type Begun = Attempt | Rollback;

/** The attempts and roll-backs of one worker that have not come to an end. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #running = new Map<Begun, Promise<void>>();

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** How many slots are taken. */
  get running(): number {
    return this.#running.size;
  }

  /** How many handlers have begun and not ended. */
  get handlers(): number {
    return this.#handlers().length;
  }

  begin(rows: readonly TaskRow[]): void {
    for (const row of rows) {
      const { ports } = this.#options;
      const attempt = row.state === 'rolling_back' ? new Rollback(row, ports) : new Attempt(row, ports);
      this.#options.known.remember(attempt.hold, 'running');
      this.#running.set(attempt, this.#go(attempt));
    }
  }

  /** Asks all of them to end. */
  abort(reason: Error): void {
    for (const attempt of this.#running.keys()) attempt.abort(reason);
  }

  /** Asks all of them to end and gives back what does not complete; children that do not heed it are killed. */
  stop(): void {
    for (const attempt of this.#running.keys()) attempt.stop();
  }

  /** Stops these attempts, as far as they run here. */
  cancel(holds: readonly TaskEntry[]): void {
    const named = new Set(holds.map(holdKey));
    for (const attempt of this.#running.keys()) if (named.has(holdKey(attempt.hold))) attempt.cancel();
  }

  /** Kills those that run in children. */
  kill(): void {
    for (const attempt of this.#running.keys()) attempt.kill();
  }

  /** Resolves when none runs, and the store knows the end of each. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Resolves when no handler runs. After `stop` or a fence none begins any more. */
  async handlersEnded(): Promise<void> {
    await Promise.all(this.#handlers().map(({ end }) => end));
  }

  #handlers(): LimitedHandler[] {
    const handlers = [...this.#running.keys()].map(({ handler }) => handler);
    return handlers.filter((handler) => handler !== null && !handler.over) as LimitedHandler[];
  }

  async #go(attempt: Begun): Promise<void> {
    await this.#conclude(attempt, await attempt.run());
    this.#running.delete(attempt);
    this.#options.onFree();
  }

  async #conclude(attempt: Begun, end: AttemptEnd): Promise<void> {
    const { finishing, givingBack, releasing, onRetry } = this.#options;
    switch (end.end) {
      case 'finished':
        faultPoint(pointBefore(end.finish));
        await finishing.finish(end.finish);
        if (end.finish.state === 'retry') onRetry(end.finish.delayMs);
        else if (attempt.row.rollback?.delayMs != null) onRetry(attempt.row.rollback.delayMs);
        return;
      case 'readmitted':
        releasing.add([{ ...attempt.hold, settled: false, waits: true }]);
        return;
      case 'stopped':
        givingBack.add([{ ...attempt.hold, rollBack: end.rollBack }], end.after);
        return;
      case 'not-run':
        givingBack.add([attempt.hold], end.after);
        await new Promise((resolve) => {
          setTimeout(resolve, notRunPauseMs);
        });
        return;
      case 'fenced':
    }
  }
}

function pointBefore(finish: Finish): FaultPoint {
  if (isRollback(finish)) return 'roll-back-ended';
  return finish.rollBack === true ? 'roll-back-due' : 'attempt-ended';
}
