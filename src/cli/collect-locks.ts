import type { Holdfast } from '../holdfast.js';
import type { Lock, LockPage } from '../tasks/reading/list-locks.js';
import type { PageOptions } from './paging.js';

const furtherPages = 1_000;

/**
 * The locks of one page. The library passes over resources whose tasks are not admitted yet, so that a page of its
 * may be short or empty and yet not the last; a person would take that for the end.
 */
export async function collectLocks(
  hf: { locks: Pick<Holdfast['locks'], 'list'> },
  { limit, after, ...filter }: PageOptions & { resource?: string },
): Promise<LockPage> {
  const locks: Lock[] = [];
  let page = await hf.locks.list({ ...filter, limit, ...(after !== undefined && { after }) });
  locks.push(...page.locks);
  while (locks.length < limit && page.next !== null) {
    page = await hf.locks.list({ ...filter, limit: furtherPages, after: page.next });
    locks.push(...page.locks);
  }
  const last = locks[limit - 1];
  if (locks.length <= limit || last === undefined) return { locks, next: page.next };
  return { locks: locks.slice(0, limit), next: last.resource };
}
