import type { ClaimedHold } from '../locks/lock-table.js';
import type { Claim, ClaimOutcome, TaskRow } from '../store/store.js';
import type { GivingBack } from './giving-back.js';
import type { Incarnation } from './incarnation.js';
import type { KnownHolds } from './known-holds.js';
import type { LanesToClaim } from './lanes-to-claim.js';
import { faultPoint } from '../fault-points.js';
import { inCurrentEpoch } from '../recovery/in-current-epoch.js';
import { onLoopError } from './incarnation.js';
import { holdKey } from './known-holds.js';
import { Loop } from './loop.js';
import { OneAtATime } from './one-at-a-time.js';

export interface ClaimingOptions {
  incarnation: Incarnation;
  known: KnownHolds;
  /** What becomes of a claim in doubt, and of one that was refused. */
  givingBack: Pick<GivingBack, 'add'>;
  lanes: Pick<LanesToClaim, 'request' | 'answered' | 'toListenTo'>;
  /** How many more tasks can be run now. */
  freeSlots(): number;
  /** Starts the attempts of tasks that run now. */
  begin(rows: TaskRow[]): void;
  /** Admission was woken in place of a claim. */
  wakeAdmission(): void;
  /** The first claim was answered: from here on tasks are taken. */
  onFirstAnswer?(): void;
}

/** How long to wait for a wake-up before the table is asked anyway, in milliseconds. */
const wakeLimitMs = 3_000;
const earlyPauseMs = 250;
const claimsPerCall = 500;

/**
 * Takes granted holds, then their tasks, in batches of up to the free slots. A wake-up is a hint: a poll
 * guarantees that nothing waits for one that was lost.
 */
export class Claiming {
  readonly #options: ClaimingOptions;
  readonly #calls = new OneAtATime();
  readonly #loop: Loop;
  #stopped = false;
  #answered = false;
  #storeClaims = 0;

  constructor(options: ClaimingOptions) {
    this.#options = options;
    const { log } = options.incarnation;
    this.#loop = new Loop({ poll: (signal) => this.#round(signal), onError: onLoopError(log, 'claiming') });
  }

  start(): void {
    this.#loop.start();
  }

  /** A slot is free. */
  wake(): void {
    this.#loop.wake();
  }

  /** Claims nothing more, and waits for the claim under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop.stop();
  }

  /** Runs `work` while no claim is under way: what the stores say about this worker's claims then is settled. */
  quietly<T>(work: () => Promise<T>): Promise<T> {
    return this.#calls.run(work);
  }

  /** How often the store was asked to claim. */
  get storeClaims(): number {
    return this.#storeClaims;
  }

  async #round(signal: AbortSignal): Promise<number> {
    const { freeSlots, incarnation } = this.#options;
    if (freeSlots() <= 0) return Infinity;
    const claimed = await this.#calls.run(() => this.#claim());
    if (!this.#answered) {
      this.#answered = true;
      this.#options.onFirstAnswer?.();
    }
    if (claimed === 'some') return 0;
    return inCurrentEpoch(incarnation, (epoch) => this.#waitForWake(epoch, signal));
  }

  /** Resolves with the pause until the next claim. */
  async #waitForWake(epoch: string, stopping: AbortSignal): Promise<number> {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    stopping.addEventListener('abort', end);
    // Nobody wakes who waits in an epoch that is over.
    const ignoreRefusal = this.#options.incarnation.epoch.onRefused(epoch, end);
    try {
      return stopping.aborted ? 0 : await this.#waitUntil(ending.signal, epoch);
    } finally {
      ignoreRefusal();
      stopping.removeEventListener('abort', end);
    }
  }

  async #waitUntil(ended: AbortSignal, epoch: string): Promise<number> {
    const { incarnation, lanes, wakeAdmission } = this.#options;
    const until = performance.now() + wakeLimitMs;
    for (;;) {
      const restMs = until - performance.now();
      if (ended.aborted || restMs <= 1) return 0;
      const wake = await incarnation.table.waitForWake(epoch, lanes.toListenTo(), restMs, ended);
      if (wake === 'claim' || ended.aborted) return 0;
      // A server that will not let anybody wait must not be asked in a tight loop.
      if (wake === 'timeout') return until - performance.now() > wakeLimitMs / 2 ? earlyPauseMs : 0;
      wakeAdmission();
    }
  }

  async #claim(): Promise<'some' | 'nothing'> {
    const limit = Math.min(this.#options.freeSlots(), claimsPerCall);
    if (this.#stopped || limit <= 0) return 'some';
    return inCurrentEpoch(this.#options.incarnation, (epoch) => this.#claimIn(epoch, limit));
  }

  async #claimIn(epoch: string, limit: number): Promise<'some' | 'nothing'> {
    const { incarnation, lanes, known } = this.#options;
    const { owner, table } = incarnation;
    for (;;) {
      // G4: one that was taken for dead was cleaned up, and nobody comes to do that a second time.
      if (!incarnation.mayAct()) return 'nothing';
      const request = lanes.request(epoch);
      const answer = await table.claim(epoch, { owner, limit, ...request });
      if (answer === 'unlisted') {
        if (incarnation.mayAct()) await table.listOwner(epoch, owner);
        continue;
      }
      const more = lanes.answered(epoch, request.lanes, answer);
      // A known one is being given back, released or run: what was begun with it ends it.
      const fresh = answer.holds.filter((hold) => !known.has(hold));
      if (fresh.length > 0) await this.#claimInStore(epoch, fresh);
      if (answer.holds.length > 0) return 'some';
      if (!more) return 'nothing';
    }
  }

  /** Once, whatever happens: a claim whose outcome is unknown is given back and never taken up. */
  async #claimInStore(epoch: string, claims: ClaimedHold[]): Promise<void> {
    const { incarnation, known, givingBack } = this.#options;
    for (const claim of claims) known.remember(claim, 'claiming');
    faultPoint('claimed-in-table');
    this.#storeClaims += 1;
    let outcome: ClaimOutcome;
    try {
      const worker = incarnation.owner.incarnation;
      outcome = await incarnation.store.claimTasks({ worker, epoch, claims });
    } catch (error) {
      givingBack.add(claims, 'move');
      throw error;
    }
    faultPoint('claimed');
    this.#takeIn(outcome, epoch, claims);
  }

  #takeIn(outcome: ClaimOutcome, epoch: string, claims: Claim[]): void {
    const { incarnation, known, givingBack, begin } = this.#options;
    if (outcome.status === 'reaped') return incarnation.fence('it was reaped');
    if (outcome.status === 'epoch') {
      for (const claim of claims) known.forget(claim);
      return incarnation.epoch.refused(epoch);
    }
    const unanswered = new Map(claims.map((claim) => [holdKey(claim), claim]));
    for (const row of outcome.claimed) unanswered.delete(holdKey({ task: row.id, entry: row.entry }));
    for (const refused of outcome.refused) {
      unanswered.delete(holdKey(refused));
      // It runs here by a call whose reply was lost: the comparison with memory finds and gives it back.
      if (refused.runsHere) known.forget(refused);
    }
    // Over, or not due yet: raising the entry tells which, and nothing may hold on to it either way.
    givingBack.add(
      outcome.refused.filter((refused) => !refused.runsHere),
      'release',
    );
    givingBack.add([...unanswered.values()], 'move');
    if (this.#stopped) {
      givingBack.add(
        outcome.claimed.map((row) => ({ task: row.id, entry: row.entry })),
        'move',
      );
    } else begin(outcome.claimed);
  }
}
