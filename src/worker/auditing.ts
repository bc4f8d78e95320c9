import type { AuditPauses, AuditRequest } from '../recovery/audit.js';
import type { Incarnation } from './incarnation.js';
import { ownerText } from '../owner.js';
import { audit, auditPauses } from '../recovery/audit.js';
import { inCurrentEpoch } from '../recovery/in-current-epoch.js';
import { onLoopError } from './incarnation.js';
import { Loop } from './loop.js';

/** One process of a fleet audits in so many milliseconds, and by SCAN in so many. */
const everyMs = { shallow: 300_000, deep: 900_000 };

/** How often each process asks for its turn, in milliseconds: a fraction, so that a turn is taken soon after it is free. */
const askMs = 60_000;

export interface AuditingOptions {
  incarnation: Incarnation;
  /** For tests: other times. */
  times?: { everyMs: typeof everyMs; askMs: number; pauses: AuditPauses };
}

/**
 * Audits the lock table by itself, with repairs, and says in the log what it finds. A turn is taken before the work and
 * expires by itself, so whoever dies in the middle keeps nobody from the next one.
 */
export class Auditing {
  readonly #options: AuditingOptions;
  readonly #times: NonNullable<AuditingOptions['times']>;
  readonly #loop: Loop;
  #begun = false;

  constructor(options: AuditingOptions) {
    this.#options = options;
    this.#times = options.times ?? { everyMs, askMs, pauses: auditPauses };
    this.#loop = new Loop({
      poll: () => this.#ask(),
      onError: onLoopError(options.incarnation.log, 'auditing'),
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  async #ask(): Promise<number> {
    const { incarnation } = this.#options;
    const { everyMs, askMs } = this.#times;
    // Not as it starts: a fleet that comes up together has better things to do.
    if (this.#begun) {
      const deep = await this.#take('deep', everyMs.deep);
      const takes = deep || (await this.#take('shallow', everyMs.shallow));
      if (takes) await inCurrentEpoch(incarnation, (epoch) => this.#audit({ epoch, repair: true, deep }));
    }
    this.#begun = true;
    return askMs * (0.9 + Math.random() / 10);
  }

  async #take(turn: keyof typeof everyMs, forMs: number): Promise<boolean> {
    const { table, owner, mayAct } = this.#options.incarnation;
    return mayAct() && table.takeTurn(`${turn}-audit`, ownerText(owner), forMs);
  }

  async #audit(request: AuditRequest): Promise<void> {
    const { incarnation } = this.#options;
    for (const found of await audit(incarnation, request, this.#times.pauses)) {
      const level = found.repaired ? 'warn' : 'error';
      incarnation.log[level]({ ...found }, `an audit found a ${found.kind}`);
    }
  }
}
