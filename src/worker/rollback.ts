import type { RollbackFailure } from '../store/attempt-record.js';
import type { TaskEntry, TaskRow } from '../store/store.js';
import type { TaskDefinition } from '../tasks/definition.js';
import type { AttemptEnd } from './attempt-end.js';
import type { AttemptPorts } from './attempt-ports.js';
import type { HandlerEnd } from './handler-end.js';
import { faultPoint } from '../fault-points.js';
import { parsePayload } from '../tasks/parse-payload.js';
import { LimitedHandler } from './limited-handler.js';
import { plainError } from './plain-outcome.js';
import { stopPatience } from './stop-limits.js';

/**
 * The roll-back of an attempt that this worker has claimed. However it ends, the outcome that its row has stored comes to
 * pass; only where this worker stops, somebody else begins it anew.
 */
export class Rollback {
  readonly row: TaskRow;
  readonly hold: TaskEntry;
  readonly #ports: AttemptPorts;
  readonly #claimedAt = performance.now();
  #handler: LimitedHandler | null = null;
  #stopped = false;

  constructor(row: TaskRow, ports: AttemptPorts) {
    this.row = row;
    this.hold = { task: row.id, entry: row.entry };
    this.#ports = ports;
  }

  /** Its handler, where that has begun. */
  get handler(): LimitedHandler | null {
    return this.#handler;
  }

  /** Aborts the handler's signal; the handler ends when it likes. */
  abort(reason: Error): void {
    this.#handler?.abort(reason);
  }

  /** A cancel does not disturb it. */
  cancel(): void {}

  /** Its worker stops: its handler is asked to end, or not begun, and is given back where it does not complete. */
  stop(): void {
    this.#stopped = true;
    this.#handler?.stop(new DOMException('The worker stops.', 'AbortError'), stopPatience);
  }

  /** Kills the handler where it runs in a child. */
  kill(): void {
    this.#handler?.kill();
  }

  /** Never rejects: whatever is thrown here is the end of the roll-back. */
  async run(): Promise<AttemptEnd> {
    try {
      const definition = this.#ports.definitions.get(this.row.name);
      if (definition === undefined || definition.policies.rollbackTimeoutMs === null) {
        return this.#notRun('UnknownTask', `No definition here has a roll-back for ${this.row.name}.`);
      }
      faultPoint('roll-back-claimed');
      const parsed = await parsePayload(definition, this.row.payload);
      if (!parsed.parsed) {
        return this.#notRun('InvalidTask', `The payload does not parse: ${parsed.problems}`);
      }
      // G1: the last moment to find that the worker's time has passed.
      if (!this.#ports.incarnation.mayAct()) return { end: 'fenced' };
      if (this.#stopped) return { end: 'stopped', after: 'move', rollBack: false };
      const leftMs = this.#leftMs();
      if (leftMs <= 0) return this.#notRun('RollbackNotRun', 'The time of the roll-back was over.');
      return await this.#handle(definition, parsed.payload, leftMs);
    } catch (error) {
      this.#ports.incarnation.log.error({ err: error, ...this.hold }, 'a roll-back broke off');
      return this.#failed('rollback-not-run', plainError(error));
    }
  }

  /** By the database's clock at the claim, and by ours since. */
  #leftMs(): number {
    const { until = '', startedAt } = this.row.rollback ?? {};
    return Date.parse(until) - Date.parse(startedAt ?? until) - (performance.now() - this.#claimedAt);
  }

  async #handle(definition: TaskDefinition, payload: unknown, leftMs: number): Promise<AttemptEnd> {
    const { incarnation, progress } = this.#ports;
    const start = { ports: this.#ports, definition, handler: 'rollback', row: this.row, payload } as const;
    const reason = 'The time of the roll-back is over.';
    const handler = new LimitedHandler(start, { ms: leftMs, from: 'now', reason });
    this.#handler = handler;
    const end = await handler.end;
    if (incarnation.isFenced()) return { end: 'fenced' };
    if (end === 'not-started' && !handler.timedOut) return { end: 'not-run', after: 'move' };
    await progress.flush(this.hold);
    if (handler.timedOut || end === 'not-started') return this.#timedOut(handler.begun);
    if (this.#stopped && end.end === 'failed') return { end: 'stopped', after: 'move', rollBack: false };
    return this.#ended(end);
  }

  #ended(end: HandlerEnd): AttemptEnd {
    if (end.end === 'failed') return this.#failed('rollback-failed', end.error);
    return { end: 'finished', finish: { ...this.hold, state: 'rolled-back' } };
  }

  #timedOut(begun: boolean): AttemptEnd {
    if (!begun) return this.#notRun('RollbackNotRun', 'The time of the roll-back was over before it began.');
    const message = 'The roll-back did not end within its time.';
    return this.#failed('rollback-timed-out', { code: 'Timeout', message });
  }

  #notRun(code: string, message: string): AttemptEnd {
    return this.#failed('rollback-not-run', plainError({ code, message }));
  }

  #failed(state: RollbackFailure, { code, message }: { code: string; message: string }): AttemptEnd {
    return { end: 'finished', finish: { ...this.hold, state, error: { code, message } } };
  }
}
