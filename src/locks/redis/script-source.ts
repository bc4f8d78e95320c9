import { readFileSync } from 'node:fs';
import { keyNamesInLua } from './keys.js';

/**
 * The whole text of a script: its first line, the key names, the libraries that its line `-- include: a b c`
 * names, in that order, then the rest. A library may use what the ones before it define.
 */
export function scriptSource(name: string): string {
  const text = readLua(name);
  const endOfFirstLine = text.indexOf('\n') + 1;
  const [, included = ''] = /^-- include: (.+)$/m.exec(text) ?? [];
  const libraries = included.split(' ').filter(Boolean);
  return [
    text.slice(0, endOfFirstLine),
    keyNamesInLua(),
    ...libraries.map((library) => readLua(`lib/${library}`)),
    text.slice(endOfFirstLine),
  ].join('');
}

function readLua(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
}
