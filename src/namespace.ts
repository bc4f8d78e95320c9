import { NotConfigured } from './errors.js';

export const defaultNamespace = 'holdfast';

/** The namespace names a PostgreSQL schema and a Redis hash tag, so only plain names are taken. */
export function checkNamespace(namespace: string): string {
  if (/^[a-z][a-z0-9_]{0,39}$/.test(namespace)) return namespace;
  throw new NotConfigured(`The namespace must match [a-z][a-z0-9_]{0,39}; got ${JSON.stringify(namespace)}.`);
}
