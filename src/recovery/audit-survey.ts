import type { FaultPlace, TableName } from '../locks/table-audit.js';
import type { Owner } from '../owner.js';
import type { AuditedTask } from '../store/audited-tasks.js';
import type { AuditLooking } from './audit-looking.js';
import type { Suspect } from './audit-finding.js';
import type { Recovery } from './recovery.js';
import { ownerText, parseOwner } from '../owner.js';
import { placesOf } from './audit-looking.js';

const perPage = 500;

export interface SurveyRequest {
  epoch: string;
  owners: readonly Owner[];
  /** Every key of the table by SCAN, and not only what others lead to. */
  deep: boolean;
}

/**
 * The first look, at everything: unsettled tasks, and their resources, from the store; owners and their registries, lanes and
 * what is ready in them, from the table; and with `deep` whatever else the table has.
 */
export async function survey(
  { store, table }: Pick<Recovery, 'store' | 'table'>,
  looking: AuditLooking,
  { epoch, owners, deep }: SurveyRequest,
): Promise<Suspect[]> {
  const suspects: Suspect[] = [];
  const seen = new Set<string>();
  const resources = new Set<string>();
  const lookAtOthers = async (tasks: readonly string[]): Promise<void> => {
    const others = [...new Set(tasks)].filter((task) => !seen.has(task));
    for (const task of others) seen.add(task);
    suspects.push(...(await looking.atTasks(others)));
  };

  let after: string | null = null;
  do {
    const page: AuditedTask[] = await store.unsettledTasks({ after, limit: perPage });
    for (const { id, exclusive, shared } of page) {
      seen.add(id);
      for (const resource of [...exclusive, ...shared]) resources.add(resource);
    }
    suspects.push(
      ...(await looking.atTasks(
        page.map(({ id }) => id),
        page,
      )),
    );
    after = page.length < perPage ? null : (page.at(-1)?.id ?? null);
  } while (after !== null);

  const named = deep ? await allNames(table, epoch) : (await table.findNames(epoch, lanesOnly)).names;
  for (const owner of ownersOf(owners, named)) {
    const registry = await looking.atRegistry(owner);
    suspects.push(...registry.suspects);
    await lookAtOthers(registry.tasks);
  }
  for (const { kind, name } of named) if (kind === 'lock' || kind === 'queue') resources.add(name);
  const of = await looking.atResources([...resources]);
  suspects.push(...of.suspects);
  await lookAtOthers(of.tasks);
  await lookAtOthers(named.flatMap(({ kind, name }) => (kind === 'hold' ? [name] : [])));
  // Deep: also what the resources' first waiters and an undisputed exclusive lock leave out.
  suspects.push(...(await looking.atPlaces(placesAmong(named, deep))));
  return suspects;
}

const lanesOnly = { of: 'lanes', cursor: null } as const;

async function allNames(table: Recovery['table'], epoch: string): Promise<TableName[]> {
  const found = new Map<string, TableName>();
  let cursor: string | null = null;
  do {
    const page: { names: TableName[]; next: string | null } = await table.findNames(epoch, {
      of: 'all',
      cursor,
    });
    for (const name of page.names) found.set(`${name.kind} ${name.name}`, name);
    cursor = page.next;
  } while (cursor !== null);
  return [...found.values()];
}

function ownersOf(listed: readonly Owner[], named: readonly TableName[]): Owner[] {
  const registries = named.flatMap(({ kind, name }) => (kind === 'registry' ? [parseOwner(name)] : []));
  return [...new Map([...listed, ...registries].map((owner) => [ownerText(owner), owner])).values()];
}

function placesAmong(named: readonly TableName[], deep: boolean): FaultPlace[] {
  return named.flatMap(({ kind, name }): FaultPlace[] => {
    if (kind === 'ready' || kind === 'waits') return [{ place: kind, name }];
    return deep && kind === 'lock' ? placesOf(name) : [];
  });
}
