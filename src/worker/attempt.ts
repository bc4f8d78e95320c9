import type { Policies, TaskEntry, TaskRow } from '../store/store.js';
import type { TaskDefinition } from '../tasks/definition.js';
import type { AttemptEnd } from './attempt-end.js';
import type { AttemptPorts } from './attempt-ports.js';
import { faultPoint } from '../fault-points.js';
import { InvalidTask } from '../errors.js';
import { shown } from '../shown.js';
import { parsePayload } from '../tasks/parse-payload.js';
import { resourcesOf } from '../tasks/resources-of.js';
import { finishOf } from './attempt-end.js';
import { timedOut } from './handler-end.js';
import { lacksResources } from './lacking-resources.js';
import { LimitedHandler } from './limited-handler.js';
import { plainError } from './plain-outcome.js';
import { stopPatience } from './stop-limits.js';

const cancelPatience = { terminateMs: 5_000, killMs: 7_000 };

type Ready = { ready: true; payload: unknown } | { ready: false; end: AttemptEnd };

/** One attempt of a task that was claimed: a pipeline of steps, each of which may end it. */
export class Attempt {
  readonly row: TaskRow;
  readonly hold: TaskEntry;
  readonly #ports: AttemptPorts;
  #handler: LimitedHandler | null = null;
  #canceled = false;
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

  /** The task is to be stopped: its handler is asked to end, or not begun. */
  cancel(): void {
    this.#canceled = true;
    this.#handler?.stop(new DOMException('The task was canceled.', 'AbortError'), cancelPatience);
  }

  /** Its worker stops: its handler is asked to end, or not begun, and is given back where it does not complete. */
  stop(): void {
    this.#stopped = true;
    this.#handler?.stop(new DOMException('The worker stops.', 'AbortError'), stopPatience);
  }

  /** Kills the handler where it runs in a child. */
  kill(): void {
    this.#handler?.kill();
  }

  /** Never rejects: whatever is thrown here is the end of the attempt. */
  async run(): Promise<AttemptEnd> {
    try {
      const definition = this.#ports.definitions.get(this.row.name);
      if (definition === undefined) {
        const message = `No definition ${JSON.stringify(this.row.name)} is loaded.`;
        return this.#failed('UnknownTask', message);
      }
      const policies = await this.#policies(definition);
      if (policies === null) return { end: 'not-run', after: 'move' };
      const ready = await this.#prepare(definition);
      if (!ready.ready) return ready.end;
      // G1: the last moment to find that the worker's time has passed, after a freeze for example.
      if (!this.#ports.incarnation.mayAct()) return { end: 'fenced' };
      if (this.#canceled) return { end: 'stopped', after: 'release', rollBack: false };
      if (this.#stopped) return { end: 'stopped', after: 'move', rollBack: false };
      return await this.#handle(definition, policies, ready.payload);
    } catch (error) {
      this.#ports.incarnation.log.error({ err: error, ...this.hold }, 'an attempt broke off');
      return this.#failed('InvalidTask', shown(error, 1_000));
    }
  }

  /**
   * Those of the row; a row that was dispatched where the definition was not loaded is given the definition's. null
   * where they could not be stored: to whoever finds this worker lost, a row without them tells that no handler had begun.
   */
  async #policies({ policies }: TaskDefinition): Promise<Policies | null> {
    if (this.row.policies !== null) return this.row.policies;
    const written = await this.#ports.writePolicies({ ...this.hold, policies });
    return written ? policies : null;
  }

  /** Parses the payload and checks that the hold has what the definition needs. */
  async #prepare(definition: TaskDefinition): Promise<Ready> {
    const invalid = (message: string): Ready => ({ ready: false, end: this.#failed('InvalidTask', message) });
    try {
      const parsed = await parsePayload(definition, this.row.payload);
      if (!parsed.parsed) return invalid(`The payload does not parse: ${parsed.problems}`);
      const needed = resourcesOf(definition, parsed.payload, this.row);
      if (!lacksResources(this.row, needed)) return { ready: true, payload: parsed.payload };
      if (this.row.readmitted) {
        return invalid(
          'Its hold lacks resources again: "resources" must not change from one run to the next.',
        );
      }
      return { ready: false, end: await this.#readmit(needed) };
    } catch (error) {
      if (error instanceof InvalidTask) return invalid(error.message);
      return invalid(`The payload could not be parsed: ${shown(error, 1_000)}`);
    }
  }

  /** Not known to be readmitted, it is given back and claimed anew: then it is found to be, or tried again. */
  async #readmit({ exclusive, shared }: { exclusive: string[]; shared: string[] }): Promise<AttemptEnd> {
    const { store, owner, log } = this.#ports.incarnation;
    try {
      const request = { ...this.hold, exclusive, shared };
      const answer = await store.readmitWithResources(owner.incarnation, request);
      faultPoint('readmitted');
      if (answer !== 'refused') return { end: 'readmitted' };
    } catch (error) {
      log.warn({ err: error, ...this.hold }, 'a task that lacks resources could not be readmitted');
    }
    return { end: 'not-run', after: 'release' };
  }

  async #handle(definition: TaskDefinition, policies: Policies, payload: unknown): Promise<AttemptEnd> {
    const { incarnation, progress } = this.#ports;
    const { timeoutMs } = policies;
    const start = { ports: this.#ports, definition, handler: 'run', row: this.row, payload } as const;
    const reason = `The attempt took longer than ${timeoutMs} ms.`;
    const limit = timeoutMs === null ? null : ({ ms: timeoutMs, from: 'handler', reason } as const);
    const handler = new LimitedHandler(start, limit);
    this.#handler = handler;
    const end = await handler.end;
    // Where only time has passed, the store decides about what is written now: it refuses a reaped worker.
    if (incarnation.isFenced()) return { end: 'fenced' };
    if (end === 'not-started') return { end: 'not-run', after: 'move' };
    const rollBack = handler.begun && policies.rollbackTimeoutMs !== null;
    if (this.#stopped && end.end === 'failed' && !handler.timedOut) {
      return { end: 'stopped', after: 'move', rollBack };
    }
    await progress.flush(this.hold);
    const over = handler.timedOut ? timedOut(timeoutMs ?? 0) : end;
    const finish = finishOf(this.hold, this.row, policies, over);
    return { end: 'finished', finish: { ...finish, rollBack } };
  }

  /** Without a retry: another attempt would fail alike. */
  #failed(code: string, message: string): AttemptEnd {
    return {
      end: 'finished',
      finish: { ...this.hold, state: 'failed', error: plainError({ code, message }) },
    };
  }
}
