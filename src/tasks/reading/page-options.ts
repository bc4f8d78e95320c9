import { InvalidTask } from '../../errors.js';
import { shown } from '../../shown.js';

/** Which part of a list. */
export interface PageOptions {
  /** How many at most: 1 … 1,000. Default 100. */
  limit?: number;
  /** The `next` of the page before. Default: the first page. */
  after?: string | null;
}

/** The page asked for. Throws InvalidTask where it is malformed. */
export function pageOf({ limit = 100, after = null }: PageOptions): { limit: number; after: string | null } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw new InvalidTask(`limit must be an integer, 1 … 1,000; got ${shown(limit)}.`);
  }
  if (after !== null && (typeof after !== 'string' || after === '' || after.includes('\0'))) {
    throw new InvalidTask(`after must be the "next" of an earlier page; got ${shown(after)}.`);
  }
  return { limit, after };
}

/** The first `limit` of `rows`, which were asked for with one more than that, and the cursor of what follows. */
export function cutPage<Row>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { rows: Row[]; next: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
