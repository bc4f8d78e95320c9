import type { FaultPlace } from '../locks/table-audit.js';
import type { Owner } from '../owner.js';
import type { AuditLooking } from './audit-looking.js';
import type { Suspect } from './audit-finding.js';
import { ownerText } from '../owner.js';
import { suspectKey } from './audit-finding.js';

/** Of these, those that are still as they were. */
export async function lookAgain(
  looking: AuditLooking,
  suspects: readonly Suspect[],
  orphans: () => Promise<Suspect[]>,
): Promise<Suspect[]> {
  const places = new Map<string, FaultPlace>();
  const owners = new Map<string, Owner>();
  const tasks = new Set<string>();
  for (const { kind, fault, owner, task } of suspects) {
    if (fault !== null) places.set(`${fault.place} ${fault.name}`, fault);
    else if (kind === 'registry-entry-without-hold' && owner !== null) owners.set(ownerText(owner), owner);
    else if (task !== null) tasks.add(task);
  }
  const seen = [...(await looking.atPlaces([...places.values()])), ...(await looking.atTasks([...tasks]))];
  for (const owner of owners.values()) seen.push(...(await looking.atRegistry(owner)).suspects);
  if (suspects.some(({ kind }) => kind === 'owner-without-worker')) seen.push(...(await orphans()));
  const still = new Set(seen.map(suspectKey));
  return suspects.filter((one) => still.has(suspectKey(one)));
}
