import type { Queryable } from '../store/database.js';
import { InvalidTask } from '../errors.js';

/** Throws InvalidTask for what cannot be a caller's transaction. */
export function checkTransaction(tx: unknown): asserts tx is Queryable {
  if (typeof (tx as Queryable | null | undefined)?.query === 'function') return;
  throw new InvalidTask('tx must be a transaction: an object with query(text, values).');
}
