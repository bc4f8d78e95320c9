import { readFileSync } from 'node:fs';

/** A text of SQL for a namespace. */
export type Sql = (namespace: string) => string;

/**
 * The SQL file beside a module. It is written for the namespace `holdfast`; where another is asked for, that one's
 * quoted schema stands in place of `holdfast.`, and its name in place of the literal `'holdfast'`.
 */
export function sqlFile(importMetaUrl: string, relative: string): Sql {
  const text = readFileSync(new URL(relative, importMetaUrl), 'utf8');
  const texts = new Map<string, string>();
  return (namespace) => {
    let forNamespace = texts.get(namespace);
    if (forNamespace === undefined) {
      forNamespace = sqlForNamespace(text, namespace);
      texts.set(namespace, forNamespace);
    }
    return forNamespace;
  };
}

/** The namespace is a plain lower-case name (see checkNamespace), so quoting it needs no escaping. */
export function sqlForNamespace(text: string, namespace: string): string {
  return text.replaceAll(/\bholdfast\./g, `"${namespace}".`).replaceAll("'holdfast'", `'${namespace}'`);
}
