import { Worker } from 'node:worker_threads';
import { compiledFile } from '../entry-point.js';
import { Fenced, Unavailable } from '../errors.js';
import { beatQuery } from '../store/queries/beat.js';
import { sayStoppedQuery } from '../store/queries/say-stopped.js';
import { checkAtDeadline, checkIntervalMs } from './deadline.js';
import type { FromHeartbeatThread, HeartbeatThreadData, ToHeartbeatThread } from './heartbeat-messages.js';
import { plainError } from './heartbeat-messages.js';
import { HeartbeatState } from './heartbeat-state.js';
import type { Heartbeat, HeartbeatOptions } from './heartbeat.js';
import { newWatchdogAddress } from './watchdog-address.js';

const prepareLimitMs = 60_000;
const stopLimitMs = 2_000;

/** Connecting takes a moment, also where the TTL is short. */
const shortestFirstBeatLimitMs = 10_000;

/** The side of a heartbeat that lives in the thread of the worker; see Heartbeat. */
export class ThreadHeartbeat implements Heartbeat {
  readonly watchdogAddress: string = newWatchdogAddress();
  readonly #options: HeartbeatOptions;
  readonly #state = new HeartbeatState();
  readonly #fenced = new AbortController();
  readonly #listeners = new Set<() => void>();
  #thread: Worker | null = null;
  #incarnation: string | null = null;
  #prepared: Promise<void> | null = null;
  #isPrepared = (): void => {};
  #exited: Promise<unknown> = Promise.resolve();
  #deadlineCheck: { stop(): void } | null = null;
  #lastError: unknown = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  get fenced(): AbortSignal {
    return this.#fenced.signal;
  }

  mayAct(): boolean {
    const may = this.#state.mayAct();
    if (!may && this.#state.fenced) this.#fence();
    return may;
  }

  onBeat(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  prepare(): Promise<void> {
    this.#prepared ??= this.#orStop(() => this.#prepare());
    return this.#prepared;
  }

  async start(incarnation: string): Promise<void> {
    await this.prepare();
    await this.#orStop(() => this.#firstBeat(incarnation));
  }

  async stop(): Promise<void> {
    this.#end('stopped');
    const { promise, timer } = limit(stopLimitMs);
    await Promise.race([this.#exited, promise]);
    clearTimeout(timer);
    await this.#thread?.terminate();
  }

  async #orStop(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    const prepared = new Promise<void>((resolve) => {
      this.#isPrepared = resolve;
    });
    const thread = new Worker(compiledFile(import.meta.url, './heartbeat-thread.js'), {
      workerData: this.#threadData(),
      // Nothing of the user's, a preloaded module say, belongs into this thread.
      execArgv: [],
    });
    this.#thread = thread;
    this.#exited = new Promise((resolve) => thread.once('exit', resolve));
    thread.on('message', (message: FromHeartbeatThread) => this.#hear(message));
    thread.on('error', (error) => this.#report(error));
    thread.on('exit', () => this.#end('lost'));
    this.#deadlineCheck = checkAtDeadline(
      () => this.#state.deadline,
      () => this.mayAct(),
      checkIntervalMs(this.#options.ttlMs),
    );
    const outcome = await this.#within(prepareLimitMs, prepared);
    if (outcome === 'late')
      throw this.#unavailable(`The heartbeat thread did not come up within ${prepareLimitMs} ms.`);
  }

  async #firstBeat(incarnation: string): Promise<void> {
    this.#incarnation = incarnation;
    const limitMs = Math.max(this.#options.ttlMs, shortestFirstBeatLimitMs);
    let forget = (): void => {};
    const beaten = new Promise<void>((resolve) => {
      forget = this.onBeat(resolve);
    });
    this.#tell({ type: 'begin', incarnation });
    await this.#within(limitMs, beaten);
    forget();
    if (!this.mayAct()) throw this.#unavailable(`No heartbeat was confirmed within ${limitMs} ms.`);
  }

  /** Throws Fenced where that, or the end of the thread, comes first. */
  async #within(limitMs: number, event: Promise<void>): Promise<'done' | 'late'> {
    const { promise: late, timer } = limit(limitMs);
    const ended = new Promise<void>((resolve) => this.fenced.addEventListener('abort', () => resolve()));
    const first = await Promise.race([
      event.then(() => 'done' as const),
      Promise.race([ended, this.#exited]).then(() => 'ended' as const),
      late.then(() => 'late' as const),
    ]);
    clearTimeout(timer);
    this.fenced.throwIfAborted();
    return first === 'done' ? 'done' : 'late';
  }

  #unavailable(message: string): Unavailable {
    return new Unavailable(message, { cause: this.#lastError });
  }

  #threadData(): HeartbeatThreadData {
    const { beater, ttlMs, killWhenFenced = false } = this.#options;
    const { memory } = this.#state;
    const data = { memory, ttlMs, watchdogAddress: this.watchdogAddress, killWhenFenced };
    if (beater.kind === 'caller') return { ...data, postgres: null };
    const { connection, namespace } = beater;
    const texts = { beatText: beatQuery(namespace), stoppedText: sayStoppedQuery(namespace) };
    return { ...data, postgres: { connection, ...texts } };
  }

  #hear(message: FromHeartbeatThread): void {
    if (message.type === 'prepared') this.#isPrepared();
    else if (message.type === 'failed') this.#report(message.error);
    else if (message.type === 'beat-asked') void this.#beat();
    else if (message.type === 'ended') this.mayAct();
    else if (message.type === 'beaten' && this.mayAct()) for (const listener of this.#listeners) listener();
  }

  /** For the thread, which has no connection of its own. */
  async #beat(): Promise<void> {
    const { beater } = this.#options;
    if (beater.kind === 'postgres' || this.#incarnation === null) return;
    try {
      this.#tell({ type: 'beat-answered', outcome: await beater.beat(this.#incarnation) });
    } catch (error) {
      this.#tell({ type: 'beat-failed', error: plainError(error) });
    }
  }

  #end(status: 'lost' | 'stopped'): void {
    this.#state.end(status);
    this.#deadlineCheck?.stop();
    this.mayAct();
    this.#tell({ type: 'stop' });
  }

  /** Idempotent. The thread is told too: it closes the children's watchdogs, and they kill the children. */
  #fence(): void {
    if (this.#fenced.signal.aborted) return;
    this.#deadlineCheck?.stop();
    this.#tell({ type: 'state-changed' });
    this.#fenced.abort(new Fenced(fencedMessages[this.#state.status] ?? 'This worker was fenced.'));
  }

  #tell(message: ToHeartbeatThread): void {
    this.#thread?.postMessage(message);
  }

  #report(error: unknown): void {
    this.#lastError = error;
    this.#options.onError?.(error);
  }
}

const fencedMessages: Record<string, string> = {
  reaped:
    'This worker was declared dead, or registered with a database that is another one now: its tasks may run elsewhere.',
  late: 'No heartbeat was confirmed in time, so this worker may be declared dead.',
  lost: 'The heartbeat thread ended, so this worker cannot prove that it is alive.',
};

function limit(ms: number): { promise: Promise<void>; timer: NodeJS.Timeout } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { promise, timer: timer as unknown as NodeJS.Timeout };
}
