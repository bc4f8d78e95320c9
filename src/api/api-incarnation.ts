import { hostname } from 'node:os';
import type { LockTable } from '../locks/lock-table.js';
import type { Logger } from '../log.js';
import type { Owner } from '../owner.js';
import type { CurrentEpoch } from '../recovery/current-epoch.js';
import type { Store } from '../store/store.js';
import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import type { Beater, Heartbeat } from '../worker/heartbeat.js';
import type { Incarnation } from '../worker/incarnation.js';
import type { ApiParts } from './api-parts.js';
import { Fenced, Unavailable } from '../errors.js';
import { currentHandler } from '../handler-context.js';
import { tableFormats } from '../locks/table-formats.js';
import { loggerWith } from '../log.js';
import { ownerText } from '../owner.js';
import { admissionPass, firstPlace, tasksPerPass } from '../worker/admission-pass.js';
import { endsWithin } from '../worker/ends-within.js';
import { createHeartbeat } from '../worker/heartbeat.js';
import { inCurrentOrNextEpoch } from '../recovery/in-current-epoch.js';
import { patiently } from '../worker/patiently.js';
import { processIdentity } from '../worker/process-identity.js';
import { endAttempts, stopInOrder, stopParts, withdrawBeforeStart } from '../worker/stop-in-order.js';
import { apiParts } from './api-parts.js';

export interface ApiOptions {
  store: Store;
  /** Started. */
  table: LockTable;
  epoch: CurrentEpoch;
  definitions: LoadedDefinitions;
  beater: Beater;
  name: string;
  /** After how many milliseconds without a beat it may be declared dead. Default 15,000. */
  ttlMs?: number;
  /** How long it lets handlers finish when it stops, in milliseconds. Default 30,000. */
  graceMs?: number;
  /** How long what is still to be written may take then, in milliseconds. Default: see afterGraceMs. */
  writtenMs?: number;
  log: Logger;
}

const defaultTtlMs = 15_000;
const defaultGraceMs = 30_000;
/** How long calls under way are waited for when it stops, in milliseconds; they end at their own limits. */
const usesLimitMs = 3_000;
const closed = 'This Holdfast is closed.';

/** Registers this process and begins to beat. Rejects with Unavailable or Fenced where it could not start. */
export async function startApiIncarnation(options: ApiOptions): Promise<ApiIncarnation> {
  const { ttlMs = defaultTtlMs, beater, log } = options;
  const onError = (error: unknown): void => log.warn({ err: error }, 'a beat failed');
  const heartbeat = createHeartbeat({ ttlMs, beater, onError });
  await heartbeat.prepare();
  const owner = await register(options, ttlMs).catch(async (error: unknown) => {
    await heartbeat.stop();
    throw error;
  });
  const started = new ApiIncarnation(options, owner, heartbeat);
  await started.begin();
  return started;
}

async function register({ store, name }: ApiOptions, ttlMs: number): Promise<Owner> {
  const { incarnation } = await store.registerWorker({
    ...{ name, kind: 'api', host: hostname(), pid: process.pid, identity: processIdentity() },
    ...{ ttlMs, concurrency: 0, queues: [], names: [], versions: {}, tableFormat: tableFormats.newest },
  });
  return { name, incarnation };
}

/** One life of this process as an owner that claims no lanes but its own. */
export class ApiIncarnation {
  readonly parts: ApiParts;
  readonly #heartbeat: Heartbeat;
  readonly #fenced = new AbortController();
  readonly #uses = { byHandlers: new Set<Promise<unknown>>(), byOthers: new Set<Promise<unknown>>() };
  #stopping = false;
  #handlersEnded = false;
  readonly #graceMs: number;
  readonly #writtenMs: number | undefined;
  readonly #forgets: (() => void)[] = [];

  constructor(options: ApiOptions, owner: Owner, heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat;
    const { definitions, ttlMs = defaultTtlMs, graceMs = defaultGraceMs, writtenMs } = options;
    this.#graceMs = graceMs;
    this.#writtenMs = writtenMs;
    this.parts = apiParts(this.#incarnation(options, owner), definitions, ttlMs);
    heartbeat.fenced.addEventListener('abort', () => this.#fenced.abort(heartbeat.fenced.reason));
    this.#fenced.signal.addEventListener('abort', () => this.#endFenced());
  }

  get owner(): Owner {
    return this.parts.incarnation.owner;
  }

  mayAct(): boolean {
    return this.parts.incarnation.mayAct();
  }

  /** What is done with it is waited for when it stops. Throws Unavailable then, but for handlers until they have ended. */
  async use<T>(work: (parts: ApiParts) => Promise<T>): Promise<T> {
    const byHandler = currentHandler() !== undefined;
    if (this.#handlersEnded || (this.#stopping && !byHandler)) throw new Unavailable(closed);
    const uses = byHandler ? this.#uses.byHandlers : this.#uses.byOthers;
    const used = work(this.parts);
    uses.add(used);
    try {
      return await used;
    } finally {
      uses.delete(used);
    }
  }

  async begin(): Promise<void> {
    const { incarnation, finishing, releasing, givingBack, discarding, progress, claiming, recovering } =
      this.parts;
    const { owner, table } = incarnation;
    try {
      await this.#heartbeat.start(owner.incarnation);
      await patiently(
        () => inCurrentOrNextEpoch(incarnation, (epoch) => table.listOwner(epoch, owner)),
        () => this.#heartbeat.mayAct(),
      );
    } catch (error) {
      await withdrawBeforeStart(this.parts, this.#heartbeat);
      throw error;
    }
    await recovering.cleanUpForSelf();
    this.#forgets.push(
      this.#heartbeat.onBeat(() => {
        void this.parts.comparing.hearCancels();
        void this.parts.comparing.compare();
      }),
      table.onCanceling((holds) => this.parts.attempts.cancel(holds)),
    );
    for (const part of [finishing, releasing, givingBack, discarding, progress, claiming, recovering]) {
      part.start();
    }
  }

  /** Lets go of what it holds, waits for what it runs, and withdraws. Bounded but for inline handlers. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (!this.#fenced.signal.aborted) {
      await Promise.race([this.#stopInOrder(), aborted(this.#fenced.signal)]);
    }
    this.#forget();
    await endsWithin(Promise.all([stopParts(this.parts), this.#heartbeat.stop()]), usesLimitMs);
  }

  async #stopInOrder(): Promise<void> {
    const { locks } = this.parts;
    const reason = new Unavailable(closed);
    void locks.giveUp(reason, 'not-handlers');
    locks.letGo(reason, 'not-handlers');
    await endsWithin(Promise.allSettled(this.#uses.byOthers), usesLimitMs);
    // What was under way may have taken one more.
    locks.letGo(reason, 'not-handlers');
    const ending = { graceMs: this.#graceMs, onUnstoppable: () => {} };
    // Handlers keep what they hold until they have returned, and get what they ask for as long as they have time.
    await endAttempts(this.parts, { ...ending, onGraceOver: () => void locks.giveUp(reason, 'all') });
    this.#handlersEnded = true;
    await endsWithin(locks.giveUp(reason, 'all'), usesLimitMs);
    await endsWithin(Promise.allSettled(this.#uses.byHandlers), usesLimitMs);
    locks.letGo(reason, 'all');
    const last = { ...ending, graceMs: 0, writtenMs: this.#writtenMs };
    const done = await stopInOrder(this.parts, this.#heartbeat, last);
    // What could not be written is left to be swept; nobody here waits for it any longer.
    locks.lose(reason);
    if (done && locks.everAsked) await this.#takeOutLast();
  }

  /** There may be nobody who admits after this one, and requests that it has just given up to be taken out. */
  async #takeOutLast(): Promise<void> {
    const { incarnation } = this.parts;
    const request = { afterPlace: firstPlace, offers: [], limit: tasksPerPass };
    try {
      await inCurrentOrNextEpoch(incarnation, (epoch) => admissionPass(incarnation, { ...request, epoch }));
    } catch (error) {
      incarnation.log.debug({ err: error }, 'the last pass failed; the next process that admits does it');
    }
  }

  #incarnation({ store, table, epoch, log }: ApiOptions, owner: Owner): Incarnation {
    const isFenced = (): boolean => this.#fenced.signal.aborted;
    return {
      ...{ owner, store, table, epoch, isFenced },
      log: loggerWith(log, { worker: owner.name, incarnation: owner.incarnation }),
      mayAct: () => !isFenced() && this.#heartbeat.mayAct(),
      fence: (why) =>
        this.#fenced.abort(new Fenced(`Process ${ownerText(owner)} may no longer act: ${why}.`)),
    };
  }

  /** G1: the signals of what it holds and runs abort; the stores are not touched any more. */
  #endFenced(): void {
    const reason = this.#fenced.signal.reason as Error;
    const { locks, attempts, incarnation } = this.parts;
    locks.lose(reason);
    attempts.abort(reason);
    incarnation.log.error({ err: reason, handlers: attempts.handlers }, 'fenced: it may no longer act');
    this.#forget();
    void Promise.all([stopParts(this.parts), this.#heartbeat.stop()]);
  }

  #forget(): void {
    for (const forget of this.#forgets.splice(0)) forget();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
