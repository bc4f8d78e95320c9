import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';

/**
 * The regular files below a folder, relative to it, with slashes, in order. Nested `node_modules` are left out:
 * they are packages of their own. So are links. A folder that goes away meanwhile counts as empty.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  await collect(folder, '', found);
  return found.sort();
}

async function collect(folder: string, below: string, found: string[]): Promise<void> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = posix.join(below, entry.name);
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && entry.name !== 'node_modules') await collect(folder, path, found);
  }
}
