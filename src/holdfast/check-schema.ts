import type { Store } from '../store/store.js';
import { WrongSchema } from '../errors.js';

/** Throws WrongSchema where migrations are pending. */
export async function checkSchema(store: Pick<Store, 'pendingMigrations' | 'namespace'>): Promise<void> {
  const pending = await store.pendingMigrations();
  if (pending.length === 0) return;
  throw new WrongSchema(
    `The schema of namespace "${store.namespace}" lacks ${pending.join(', ')}. Run "holdfast migrate" first.`,
  );
}
