import { faultPoint } from '../fault-points.js';
import { hostname } from 'node:os';
import type { Owner } from '../owner.js';
import type { Attempts } from './attempts.js';
import type { Heartbeat } from './heartbeat.js';
import type { Incarnation } from './incarnation.js';
import type { CheckedWorkerOptions, WorkerOptions } from './worker-options.js';
import type { WorkerParts } from './worker-parts.js';
import { Fenced, Unavailable, WrongState } from '../errors.js';
import { tableFormats } from '../locks/table-formats.js';
import { loggerWith } from '../log.js';
import { ownerText } from '../owner.js';
import { createHeartbeat } from './heartbeat.js';
import { endsUnlessStopped, endsWithin } from './ends-within.js';
import { inCurrentOrNextEpoch } from '../recovery/in-current-epoch.js';
import { patiently } from './patiently.js';
import { processIdentity } from './process-identity.js';
import { stopInOrder, stopParts, withdrawBeforeStart } from './stop-in-order.js';
import { afterGraceMs } from './stop-limits.js';
import { watchdogMark } from './watchdog-address.js';
import { checkWorkerOptions } from './worker-options.js';
import { workerParts } from './worker-parts.js';

/** How long handlers may take to heed their signals after a fence, in milliseconds: less than any margin. */
const heedAfterFenceMs = 100;
/** How long calls under way are waited for then, in milliseconds; what comes of them is not taken in. */
const fencedEndLimitMs = 1_000;
const leftMessage = 'stopped, but not everything could be written. What is left is swept after its TTL.';

/** One incarnation of a worker in this process. */
export interface WorkerProcess {
  /**
   * Registers, runs tasks, and resolves when `stop` has ended it in order. Rejects with Fenced where it may no
   * longer act, with Unavailable where it could not start, or could not write everything when it stopped. Once only: a
   * worker comes back as a new incarnation.
   */
  run(): Promise<void>;
  /** Claims nothing more, waits for the tasks that run, and withdraws. Idempotent; resolves when `run` has ended. */
  stop(): Promise<void>;
  /** null until it is registered. */
  readonly owner: Owner | null;
  /** Resolves when no handler of its tasks runs in this process or in its children; after `run` has ended. */
  handlersEnded(): Promise<void>;
}

/** Throws InvalidTask or NotConfigured for options that cannot work. */
export function createWorkerProcess(options: WorkerOptions): WorkerProcess {
  return new Worker(options);
}

class Worker implements WorkerProcess {
  readonly #options: WorkerOptions;
  readonly #checked: CheckedWorkerOptions;
  readonly #stopAsked = new AbortController();
  readonly #fenced = new AbortController();
  #owner: Owner | null = null;
  #attempts: Attempts | null = null;
  #toldUnstoppable = false;
  #running: Promise<void> | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#checked = checkWorkerOptions(options);
  }

  get owner(): Owner | null {
    return this.#owner;
  }

  async run(): Promise<void> {
    if (this.#running !== null) throw new WrongState('A worker runs once; create another one.');
    this.#running = this.#live();
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopAsked.abort();
    // What it ended with is told by `run`.
    await this.#running?.catch(() => {});
  }

  async handlersEnded(): Promise<void> {
    await this.#attempts?.handlersEnded();
  }

  async #live(): Promise<void> {
    const heartbeat = this.#heartbeat();
    const beginning = this.#begin(heartbeat);
    if (!(await endsUnlessStopped(beginning, this.#stopAsked.signal, afterGraceMs.written))) {
      // What is under way finds its heartbeat stopped, and undoes what it has done.
      beginning.catch(() => {});
      await endsWithin(heartbeat.stop(), afterGraceMs.ended - afterGraceMs.written);
      throw new Unavailable('The worker was told to stop before it could begin.');
    }
    const parts = await beginning;
    if (parts !== null) await this.#work(parts, heartbeat);
  }

  /** Registers and lists it. null where it was told to stop before. */
  async #begin(heartbeat: Heartbeat): Promise<WorkerParts | null> {
    await heartbeat.prepare();
    if (this.#stopAsked.signal.aborted) {
      await heartbeat.stop();
      return null;
    }
    const owner = await this.#register(heartbeat).catch(async (error: unknown) => {
      await heartbeat.stop();
      throw error;
    });
    const parts = workerParts(this.#incarnation(owner, heartbeat), heartbeat, this.#options, this.#checked);
    this.#attempts = parts.attempts;
    heartbeat.fenced.addEventListener('abort', () => this.#fence(heartbeat.fenced.reason as Error));
    this.#fenced.signal.addEventListener('abort', () => this.#endAttempts(parts));
    try {
      await heartbeat.start(owner.incarnation);
      await patiently(
        () => this.#listOwner(parts.incarnation),
        () => heartbeat.mayAct(),
      );
      faultPoint('listed');
      await this.#speakForPredecessors();
      // Before it takes any task: what its predecessors held may be what the next one needs.
      await parts.recovering.cleanUpForSelf();
      if (!heartbeat.mayAct() && !heartbeat.fenced.aborted)
        throw new Unavailable('Its heartbeat was stopped.');
    } catch (error) {
      await withdrawBeforeStart(parts, heartbeat);
      throw error;
    }
    return parts;
  }

  async #work(parts: WorkerParts, heartbeat: Heartbeat): Promise<void> {
    const forgetBeats = heartbeat.onBeat(() => this.#atBeat(parts));
    const forgetCancels = this.#options.table.onCanceling((holds) => parts.attempts.cancel(holds));
    this.#startParts(parts);
    await aborted(this.#stopAsked.signal, this.#fenced.signal);
    let done = false;
    if (!this.#fenced.signal.aborted) {
      const stopping = stopInOrder(parts, heartbeat, {
        graceMs: this.#checked.graceMs,
        onUnstoppable: () => void this.#tellUnstoppable(parts),
      });
      await Promise.race([stopping.then((all) => (done = all)), aborted(this.#fenced.signal)]);
    }
    forgetBeats();
    forgetCancels();
    if (this.#fenced.signal.aborted) await this.#endFenced(parts, heartbeat);
    if (!done) throw new Unavailable(`Worker ${ownerText(parts.incarnation.owner)} ${leftMessage}`);
  }

  /** While it stops, comparing is done in the order of that, but what still runs can be canceled. */
  #atBeat({ comparing }: WorkerParts): void {
    void comparing.hearCancels();
    if (!this.#stopAsked.signal.aborted) void comparing.compare();
  }

  async #register({ watchdogAddress }: Heartbeat): Promise<Owner> {
    const { name, concurrency, ttlMs, offer } = this.#checked;
    const { incarnation } = await this.#options.store.registerWorker({
      ...{ name, kind: 'worker', host: hostname(), pid: process.pid },
      identity: { ...processIdentity(), watchdog: watchdogMark(watchdogAddress) },
      ...{ ttlMs, concurrency, ...offer, tableFormat: tableFormats.newest },
    });
    this.#owner = { name, incarnation };
    faultPoint('registered');
    return this.#owner;
  }

  async #listOwner(incarnation: Incarnation): Promise<void> {
    const { owner, table } = incarnation;
    await inCurrentOrNextEpoch(incarnation, (epoch) => table.listOwner(epoch, owner));
  }

  /** What they could not say themselves while the database was away. */
  async #speakForPredecessors(): Promise<void> {
    const { store, predecessors = [] } = this.#options;
    for (const incarnation of predecessors) await store.sayStopped(incarnation);
  }

  #heartbeat(): Heartbeat {
    const { ttlMs, log } = this.#checked;
    const onError = (error: unknown): void => {
      log.warn({ err: error, incarnation: this.#owner?.incarnation }, 'a beat failed');
    };
    const { beater, killWhenFenced = false } = this.#options;
    return createHeartbeat({ ttlMs, beater, killWhenFenced, onError });
  }

  #incarnation(owner: Owner, heartbeat: Heartbeat): Incarnation {
    const { store, table, epoch } = this.#options;
    const log = loggerWith(this.#checked.log, { worker: owner.name, incarnation: owner.incarnation });
    const isFenced = (): boolean => this.#fenced.signal.aborted;
    const mayAct = (): boolean => !isFenced() && heartbeat.mayAct();
    const fence = (why: string): void => {
      this.#fence(new Fenced(`Worker ${ownerText(owner)} may no longer act: ${why}.`));
    };
    return { owner, store, table, epoch, log, mayAct, isFenced, fence };
  }

  #startParts(parts: WorkerParts): void {
    const { admission, claiming, listening, finishing, givingBack, releasing, progress, recovering } = parts;
    for (const part of [finishing, releasing, givingBack, progress, recovering, admission, claiming]) {
      part.start();
    }
    listening?.start();
    parts.auditing?.start();
  }

  /** G1: its tasks stop first, children included; the stores are not touched any more. */
  #fence(reason: Error): void {
    this.#fenced.abort(reason);
  }

  #endAttempts(parts: WorkerParts): void {
    const { attempts, incarnation } = parts;
    const reason = this.#fenced.signal.reason as Error;
    attempts.abort(reason);
    attempts.kill();
    incarnation.log.error({ err: reason, handlers: attempts.handlers }, 'fenced: it may no longer act');
    setTimeout(() => {
      if (attempts.handlers > 0) void this.#tellUnstoppable(parts);
    }, heedAfterFenceMs);
    this.#options.onFenced?.({ reason, handlers: attempts.handlers });
  }

  /** Never rejects: what the caller's code throws must not end a stop half-way. */
  async #tellUnstoppable({ attempts, incarnation }: WorkerParts): Promise<void> {
    if (this.#toldUnstoppable) return;
    this.#toldUnstoppable = true;
    try {
      await (this.#options.onUnstoppable?.({ handlers: attempts.handlers }) as unknown);
    } catch (error) {
      incarnation.log.error({ err: error }, 'onUnstoppable threw');
    }
  }

  async #endFenced(parts: WorkerParts, heartbeat: Heartbeat): Promise<never> {
    const ended = Promise.all([stopParts(parts), parts.childrenIfAny()?.stop(), heartbeat.stop()]);
    await endsWithin(ended, fencedEndLimitMs);
    throw this.#fenced.signal.reason;
  }
}

async function aborted(...signals: AbortSignal[]): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
