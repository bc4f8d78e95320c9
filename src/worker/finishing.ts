import type { FaultPoint } from '../fault-points.js';
import type { Finish, FinishOutcome } from '../store/finish.js';
import type { Incarnation } from './incarnation.js';
import type { GivingBack } from './giving-back.js';
import type { OverHold, Releasing } from './releasing.js';
import { faultPoint } from '../fault-points.js';
import { Unavailable } from '../errors.js';
import { isRollback } from './attempt-end.js';
import { onLoopError } from './incarnation.js';
import { holdKey } from './known-holds.js';
import { Loop } from './loop.js';

interface PendingFinish {
  finish: Finish;
  resolve: () => void;
}

const finishesPerCall = 500;

/**
 * Writes the ends of attempts: whatever is ready while a call is under way goes with the next one. A finish whose
 * reply was lost is sent again, because state, entry and worker guard it. The hold is released afterwards.
 */
export class Finishing {
  readonly #incarnation: Incarnation;
  readonly #releasing: Releasing;
  readonly #givingBack: Pick<GivingBack, 'goesOn' | 'goesOnOrIsOver'>;
  readonly #pending = new Map<string, PendingFinish>();
  readonly #loop: Loop;

  constructor(
    incarnation: Incarnation,
    releasing: Releasing,
    givingBack: Pick<GivingBack, 'goesOn' | 'goesOnOrIsOver'>,
  ) {
    this.#incarnation = incarnation;
    this.#releasing = releasing;
    this.#givingBack = givingBack;
    this.#loop = new Loop({
      poll: () => this.#round(),
      onError: onLoopError(incarnation.log, 'finishing tasks'),
    });
  }

  get pending(): number {
    return this.#pending.size;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Resolves when the store has the end of the attempt; never where the incarnation is fenced before. */
  finish(finish: Finish): Promise<void> {
    return new Promise((resolve) => {
      this.#pending.set(holdKey(finish), { finish, resolve });
      this.#loop.wake();
    });
  }

  async #round(): Promise<number> {
    const batch = [...this.#pending.values()].slice(0, finishesPerCall);
    if (batch.length === 0) return Infinity;
    try {
      await this.#write(batch);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      await this.#writeOneByOne(batch);
    }
    return 0;
  }

  async #write(batch: PendingFinish[]): Promise<void> {
    const { store, owner } = this.#incarnation;
    const finishes = batch.map(({ finish }) => finish);
    const outcomes = await store.finishTasks(owner.incarnation, finishes);
    const refused = finishes.filter((_, index) => outcomes[index]?.outcome === 'refused');
    // Refused by a worker that is not reaped, the attempt is over: an earlier call did it whose reply was lost.
    if (refused.length > 0 && (await store.beat(owner.incarnation)) === 'reaped') {
      return this.#incarnation.fence('it was reaped');
    }
    await this.#givingBack.goesOnOrIsOver(refused.map(overIfRefused));
    for (const [index, { task, entry, outcome }] of outcomes.entries()) {
      if (outcome === 'refused') continue;
      faultPoint(pointAfter(finishes[index], outcome));
      const waits = outcome === 'waiting';
      if (outcome === 'rolling_back') this.#givingBack.goesOn({ task, entry }, entry + 1);
      else this.#releasing.add([{ task, entry, settled: !waits, waits }]);
    }
    for (const { finish, resolve } of batch) {
      this.#pending.delete(holdKey(finish));
      resolve();
    }
  }

  /** G5: what the server will not take of one task must not keep the others from their end. */
  async #writeOneByOne(batch: PendingFinish[]): Promise<void> {
    let failure: unknown = null;
    for (const pending of batch) {
      try {
        await this.#write([pending]);
      } catch (error) {
        if (error instanceof Unavailable) throw error;
        await this.#writeWithoutContent(pending, error).catch((again: unknown) => {
          failure = again;
        });
      }
    }
    if (failure !== null) throw failure;
  }

  async #writeWithoutContent(pending: PendingFinish, cause: unknown): Promise<void> {
    const { finish } = pending;
    const { task, entry } = finish;
    this.#incarnation.log.error({ err: cause, task, entry }, 'the end of an attempt cannot be stored');
    const error = { code: 'InvalidTask', message: 'What the attempt ended with cannot be stored.' };
    const plain: Finish = isRollback(finish)
      ? { task, entry, state: 'rollback-failed', error }
      : { task, entry, state: 'failed', error, rollBack: finish.rollBack === true };
    await this.#write([{ ...pending, finish: plain }]);
  }
}

/** An earlier call wrote what was to be written, unless the task was canceled meanwhile. */
function overIfRefused(finish: Finish): OverHold {
  const { task, entry, state } = finish;
  // After a roll-back it does the one or the other; those who wait look for themselves.
  if (isRollback(finish)) return { task, entry, settled: true, waits: true };
  return { task, entry, settled: state !== 'retry', waits: state === 'retry' };
}

function pointAfter(finish: Finish | undefined, outcome: FinishOutcome['outcome']): FaultPoint {
  if (outcome === 'rolling_back') return 'roll-back-stored';
  if (finish !== undefined && isRollback(finish)) return 'roll-back-end-stored';
  return outcome === 'waiting' ? 'retry-stored' : 'end-stored';
}
