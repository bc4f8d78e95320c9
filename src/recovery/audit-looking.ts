import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LockView } from '../locks/lock-table.js';
import type { FaultPlace, TableFault } from '../locks/table-audit.js';
import type { Owner } from '../owner.js';
import type { AuditedTask } from '../store/audited-tasks.js';
import type { AuditContext } from './audit-judgement.js';
import type { Suspect } from './audit-finding.js';
import type { Recovery } from './recovery.js';
import { suspect } from './audit-finding.js';
import { judge } from './audit-judgement.js';

const perPage = 500;
const perBatch = 100;
const waitersLookedAt = 1_000;

/** Single looks at parts of both stores. None of them changes anything, and each tells what may be on its way only. */
export class AuditLooking {
  readonly #stores: Pick<Recovery, 'store' | 'table'>;
  readonly #context: AuditContext;

  constructor(stores: Pick<Recovery, 'store' | 'table'>, context: AuditContext) {
    this.#stores = stores;
    this.#context = context;
  }

  /** Each task with its hold, whichever of the two there is. */
  async atTasks(ids: readonly string[], known?: readonly AuditedTask[]): Promise<Suspect[]> {
    const { store, table } = this.#stores;
    const suspects: Suspect[] = [];
    for (const some of pieces(ids, perPage)) {
      // Embedded, all this is one thread, and may consist of settled promises only: others have their turn.
      await nextTurn();
      const rows = new Map((known ?? (await store.auditedTasks(some))).map((row) => [row.id, row]));
      const examined = await table.examineHolds(this.#context.epoch, some);
      for (const one of examined) {
        const found = judge(this.#context, one, rows.get(one.task));
        if (found !== null) suspects.push(found);
      }
    }
    return suspects;
  }

  /** What leads to no hold in these places. */
  async atPlaces(places: readonly FaultPlace[]): Promise<Suspect[]> {
    const suspects: Suspect[] = [];
    for (const some of pieces(places, perBatch)) {
      const found = await Promise.all(some.map((place) => this.#faultsAt(place)));
      suspects.push(...found.flat().map(suspectOfFault));
    }
    return suspects;
  }

  /** The registry of an owner: what it names without a hold, and every task that it names. */
  async atRegistry(owner: Owner): Promise<{ suspects: Suspect[]; tasks: string[] }> {
    const suspects: Suspect[] = [];
    const tasks: string[] = [];
    let after: string | null = null;
    do {
      const entries: { task: string; entry: number | null }[] = await this.#stores.table.readRegistry(
        this.#context.epoch,
        owner,
        { after, limit: perPage },
      );
      for (const { task, entry } of entries) {
        if (entry !== null) tasks.push(task);
        else if (this.#lives(owner)) suspects.push(suspect('registry-entry-without-hold', { task, owner }));
      }
      after = entries.length < perPage ? null : (entries.at(-1)?.task ?? null);
    } while (after !== null);
    return { suspects, tasks };
  }

  /** The locks and queues of resources; and every task that has or waits for one of them, as far as they are shown. */
  async atResources(resources: readonly string[]): Promise<{ suspects: Suspect[]; tasks: string[] }> {
    const suspects: Suspect[] = [];
    const tasks: string[] = [];
    for (const some of pieces(resources, perBatch)) {
      const views = await this.#stores.table.inspectLocks(this.#context.epoch, some, waitersLookedAt);
      const doubtful = views.filter(mayHaveFaults).map(({ resource }) => resource);
      suspects.push(...(await this.atPlaces(doubtful.flatMap(placesOf))));
      for (const { holders, waiting } of views) {
        tasks.push(...[...holders, ...waiting].map(({ task }) => task));
      }
    }
    return { suspects, tasks };
  }

  #lives({ incarnation }: Owner): boolean {
    return this.#context.living.has(incarnation);
  }

  async #faultsAt(place: FaultPlace): Promise<TableFault[]> {
    const faults: TableFault[] = [];
    let cursor: string | null = null;
    do {
      const page: { faults: TableFault[]; next: string | null } = await this.#stores.table.findFaults(
        this.#context.epoch,
        { ...place, cursor },
      );
      faults.push(...page.faults);
      cursor = page.next;
    } while (cursor !== null);
    return faults;
  }
}

export function placesOf(resource: string): FaultPlace[] {
  return [
    { place: 'lock', name: resource },
    { place: 'queue', name: resource },
  ];
}

/** Most resources have one exclusive holder, whom its hold leads to, and nobody behind. */
function mayHaveFaults({ mode, holders, waitingCount }: LockView): boolean {
  return waitingCount > 0 || mode === 'shared' || holders.some(({ entry }) => entry === 0);
}

function suspectOfFault(fault: TableFault): Suspect {
  const { place, name, task, stalled } = fault;
  switch (place) {
    case 'lock':
      return suspect('lock-without-hold', { fault, task, resource: name });
    case 'queue':
      return suspect(stalled ? 'queue-stalled' : 'queue-place-without-hold', { fault, task, resource: name });
    case 'ready':
      return suspect('ready-place-without-hold', { fault, task, lane: name });
    case 'waits':
    default:
      return suspect('waits-without-hold', { fault, task });
  }
}

export function pieces<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
