import type { Dispatching } from './dispatching.js';
import type { Member } from './member.js';
import type { Seeded } from './seeded.js';
import type { Operation, Workload } from './workload.js';
import { operations } from './workload.js';

/** So many dispatches may wait for PostgreSQL before the workload does. */
const mostUnderWay = 40;

/** So many tasks may not be final yet: more would only make each run longer. */
const mostUnsettled = 120;

/** Asks for one operation after the other, in the order and with the pauses of the seed. */
export class Operating {
  /** What came of those that the API process was asked for. */
  readonly answers: Record<string, number> = {};
  asked: number = 0;
  readonly #random: Seeded;
  readonly #workload: Workload;
  readonly #dispatching: Dispatching;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #immediate = new Map<number, Extract<Operation, { kind: 'immediate' }>>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    random: Seeded,
    workload: Workload,
    dispatching: Dispatching,
    pause: (ms: number) => Promise<void>,
  ) {
    this.#random = random;
    this.#workload = workload;
    this.#dispatching = dispatching;
    this.#pause = pause;
  }

  async run(api: Member, unsettled: () => number, ended: () => boolean): Promise<void> {
    for (const operation of operations(this.#random, this.#workload)) {
      await this.#pause(operation.pauseMs);
      while (unsettled() > mostUnsettled && !ended()) await this.#pause(100);
      if (ended()) break;
      this.asked++;
      this.#ask(operation, api);
      while (this.#underWay.size >= mostUnderWay) await Promise.race(this.#underWay);
    }
    await Promise.all(this.#underWay);
  }

  /** An answer of the API process. */
  heard({ number, done, error }: Record<string, unknown>): void {
    if (typeof number !== 'number') return;
    const kind = this.#immediate.has(number) ? 'immediate' : 'other';
    const answer = typeof error === 'string' ? error : 'done';
    const key = `${kind}: ${answer}`;
    this.answers[key] = (this.answers[key] ?? 0) + 1;
    const order = this.#immediate.get(number);
    const { id } = (done ?? {}) as { id?: string };
    if (order !== undefined && id !== undefined) this.#dispatching.dispatchedElsewhere(number, id, order);
  }

  #ask(operation: Operation, api: Member): void {
    const { number, kind } = operation;
    if (kind === 'dispatch') {
      const dispatched = this.#dispatching
        .dispatch(operation)
        .finally(() => this.#underWay.delete(dispatched));
      this.#underWay.add(dispatched);
    } else if (kind === 'immediate') {
      const { name, payload, exclusive, shared, queue, priority, deferred } = operation;
      this.#immediate.set(number, operation);
      const options = { queue, priority, immediate: true, deferred };
      api.tell({ number, kind: 'dispatch', name, payload, exclusive, shared, options });
    } else if (kind === 'lock') {
      api.tell(operation);
    } else {
      const id = this.#dispatching.idOf(operation.of);
      if (id !== null) api.tell({ number, kind, id });
    }
  }
}
