import { ownerText, parseOwner, type Owner } from '../../owner.js';
import type { FindOwners, Page, RegistryEntry } from '../lock-table.js';
import { compareBytes } from './bytes.js';
import type { SortedList } from './sorted-list.js';
import type { Keyspace } from './table-state.js';

export function findOwners(space: Keyspace, find: FindOwners): Owner[] {
  const { name, after } = find;
  const prefix = name === undefined ? (find.prefix ?? '') : ownerText({ name, incarnation: '' });
  const found: Owner[] = [];
  const start = after === null || compareBytes(after, prefix) < 0 ? prefix : after;
  for (const text of space.owners.from(start)) {
    if (found.length >= find.limit || !text.startsWith(prefix)) break;
    if (text === after) continue;
    const owner = parseOwner(text);
    // The text of another owner may start so too: `a:1:7` is an incarnation of `a:1`.
    if (name === undefined || owner.name === name) found.push(owner);
  }
  return found;
}

/** A page of what an owner holds, in order of task. */
export function readRegistry(space: Keyspace, owner: Owner, page: Page): RegistryEntry[] {
  const text = ownerText(owner);
  const registry = space.registries.get(text);
  return registry === undefined
    ? []
    : pageOf(registry, page).map((task) => {
        const hold = space.holds.get(task);
        if (hold?.owner !== text) return { task, entry: null, fence: null };
        return { task, entry: hold.entry, fence: hold.fence };
      });
}

function pageOf(list: SortedList<string>, { after, limit }: Page): string[] {
  const page: string[] = [];
  for (const text of after === null ? list : list.from(after)) {
    if (page.length >= limit) break;
    if (text !== after) page.push(text);
  }
  return page;
}
