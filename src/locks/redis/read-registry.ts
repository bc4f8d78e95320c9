import { ownerText, type Owner } from '../../owner.js';
import type { Page, RegistryEntry } from '../lock-table.js';

/** Reads a page of a registry, from where ZRANGEBYLEX is to start. */
export type ReadEntries = (range: { owner: string; from: string; limit: number }) => Promise<RegistryEntry[]>;

const mostPerCall = 500;

/** A full page of an owner's registry, in order of task, unless there are no more. */
export async function readRegistry(read: ReadEntries, owner: Owner, page: Page): Promise<RegistryEntry[]> {
  const entries: RegistryEntry[] = [];
  let { after } = page;
  for (;;) {
    const asked = Math.min(page.limit - entries.length, mostPerCall);
    const from = after === null ? '-' : `(${after}`;
    const some = await read({ owner: ownerText(owner), from, limit: asked });
    entries.push(...some);
    if (some.length < asked || entries.length >= page.limit) return entries;
    after = entries.at(-1)?.task ?? null;
  }
}
