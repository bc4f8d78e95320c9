import { ownerText, parseOwner, type Owner } from '../../owner.js';
import type { FindOwners } from '../lock-table.js';

/** Reads a page of owner texts in a range, as ZRANGEBYLEX takes it. */
export type ReadOwners = (range: OwnerRange) => Promise<string[]>;

export interface OwnerRange {
  from: string;
  to: string | Buffer;
  limit: number;
}

const mostPerCall = 1_000;
/** Greater than any byte of UTF-8. */
const lastByte = Buffer.from([0xff]);

/** Listed owners in order of their text, a full page of them unless there are no more. */
export async function findOwners(read: ReadOwners, find: FindOwners): Promise<Owner[]> {
  const { name, limit } = find;
  const prefix = name === undefined ? (find.prefix ?? '') : ownerText({ name, incarnation: '' });
  const found: Owner[] = [];
  let after = find.after;
  for (;;) {
    const asked = Math.min(limit - found.length, mostPerCall);
    const texts = await read({ ...rangeOf(prefix, after), limit: asked });
    for (const text of texts) {
      const owner = parseOwner(text);
      // The text of another owner may start so too: `a:1:7` is an incarnation of `a:1`.
      if (name === undefined || owner.name === name) found.push(owner);
    }
    if (texts.length < asked || found.length >= limit) return found;
    after = texts.at(-1) ?? null;
  }
}

function rangeOf(prefix: string, after: string | null): Pick<OwnerRange, 'from' | 'to'> {
  const isPast = after !== null && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0;
  const from = isPast ? `(${after}` : `[${prefix}`;
  const to = prefix === '' ? '+' : Buffer.concat([Buffer.from(`(${prefix}`), lastByte]);
  return { from, to };
}
