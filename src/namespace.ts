import { NotConfigured } from './errors.js';
import { shown } from './shown.js';

export const defaultNamespace = 'holdfast';

/**
 * The namespace names a PostgreSQL schema and a Redis hash tag, so only plain names are taken, and none of a schema
 * that is PostgreSQL's own or, as `public`, everybody's: what is Holdfast's alone may be dropped as a whole.
 */
export function checkNamespace(namespace: unknown): string {
  if (typeof namespace !== 'string' || !/^[a-z][a-z0-9_]{0,39}$/.test(namespace)) {
    throw new NotConfigured(`The namespace must match [a-z][a-z0-9_]{0,39}; got ${shown(namespace)}.`);
  }
  if (namespace === 'public') {
    throw new NotConfigured(
      'The namespace must not be "public": its tables would lie in the schema that all programs share.',
    );
  }
  if (namespace === 'information_schema' || namespace.startsWith('pg_')) {
    throw new NotConfigured(
      `The namespace must not be "${namespace}": PostgreSQL keeps information_schema, and what begins with pg_, to itself.`,
    );
  }
  return namespace;
}
