import type { FaultKind, PlannedFault, Stores, System } from './faults/fault-kind.js';
import type { Fault } from './history.js';
import type { Seeded } from './seeded.js';
import { now } from './clock.js';
import { randomDownMs } from './faults/fault-kind.js';
import { faultKinds } from './faults/index.js';

export interface FaultSetting {
  forMs: number;
  ttlMs: number;
  stores: Stores;
  workers: string[];
  /** Names of kinds; null: all. */
  only: string[] | null;
}

const least = { quietMs: 1_000, betweenMs: 300 };
const mostBetweenMs = 4_500;

/** Those that may come. Throws where one that is asked for never can. */
export function possibleKinds({ redis, postgres }: Stores, only: string[] | null): FaultKind[] {
  const possible = faultKinds.filter(
    (kind) => (kind.redis ?? redis) === redis && (kind.postgres ?? postgres) === postgres,
  );
  const unknown = only?.find((name) => !possible.some((kind) => kind.name === name));
  if (unknown === undefined) return possible.filter(({ name }) => only?.includes(name) ?? true);
  const names = possible.map(({ name }) => name).join(', ');
  const where = `--redis ${redis} and --postgres ${postgres}`;
  throw new Error(`There is no fault "${unknown}" with ${where}. There are: ${names}.`);
}

/** When which fault comes, and whom it hits. */
export function planFaults(random: Seeded, setting: FaultSetting): PlannedFault[] {
  const { forMs, ttlMs, stores, workers, only } = setting;
  const weighted = possibleKinds(stores, only).map((kind) => [kind.weight, kind] as const);
  const targets = { worker: workers, process: [...workers, 'api'], everybody: [''] };
  const plan: PlannedFault[] = [];
  for (let atMs = least.quietMs; atMs < forMs; atMs += random.between(least.betweenMs, mostBetweenMs)) {
    const kind = random.weighted(weighted);
    const [shortest, longest] = kind.ms(ttlMs);
    plan.push({
      kind: kind.name,
      atMs,
      target: random.pick(targets[kind.hits]),
      ms: random.between(Math.round(shortest), Math.round(longest)),
      downMs: randomDownMs(random, ttlMs),
    });
  }
  return plan;
}

/** Lets the planned faults come. Those of one group and target wait for each other, all others overlap. */
export class Nemesis {
  readonly faults: Fault[] = [];
  /** Faults that could not be inflicted, with the reason: the harness has failed. */
  readonly failures: string[] = [];
  readonly #system: System;
  readonly #plan: PlannedFault[];
  readonly #last = new Map<string, Promise<void>>();

  constructor(system: System, plan: PlannedFault[]) {
    this.#system = system;
    this.#plan = plan;
  }

  /** Resolves when all have come and everything is whole again. */
  async run(ended: () => boolean): Promise<void> {
    const started = performance.now();
    for (const fault of this.#plan) {
      await this.#system.pause(started + fault.atMs - performance.now());
      if (ended()) break;
      const kind = faultKinds.find(({ name }) => name === fault.kind)!;
      const slot = `${kind.group ?? kind.name} ${fault.target}`;
      const before = this.#last.get(slot) ?? Promise.resolve();
      this.#last.set(
        slot,
        before.then(() => this.#inflict(kind, fault)),
      );
    }
    await Promise.all(this.#last.values());
  }

  /** What is going on. */
  get text(): string {
    const running = this.faults.filter(({ to }) => to === Number.MAX_SAFE_INTEGER);
    const names = running.map(({ kind, target }) => `${kind} ${target}`.trim());
    const count = `${this.faults.length} of ${this.#plan.length} faults`;
    return names.length === 0 ? count : `${count}, now: ${names.join(', ')}`;
  }

  async #inflict(kind: FaultKind, planned: PlannedFault): Promise<void> {
    const fault: Fault = {
      kind: kind.name,
      target: planned.target,
      from: now(),
      to: Number.MAX_SAFE_INTEGER,
    };
    this.faults.push(fault);
    try {
      await kind.inflict(this.#system, planned);
    } catch (error) {
      // Another fault may have taken away what this one needs.
      const { cause } = error as Error;
      const why = cause instanceof Error ? ` (${cause.message})` : '';
      this.failures.push(`${kind.name} ${planned.target}: ${String(error)}${why}`);
    } finally {
      fault.to = now();
    }
  }
}
