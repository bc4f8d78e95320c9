import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from './layout.js';
import { listFiles } from './files.js';
import { sourceFolder } from './layout.js';

/** What a change writes, so that contents are new to the store. */
const marker = 'holdfast demo: change';

/**
 * Changes the source copy of a package while syncs of it may run: rewrites a file, adds one, and removes
 * another. Files come by a rename, so a sync reads a whole content, old or new, and never half of one. `change`
 * numbers the changes of one run and decides which files are touched.
 */
export async function changeSource(layout: Layout, packageName: string, change: number): Promise<void> {
  const folder = sourceFolder(layout, packageName);
  const files = await listFiles(folder);
  const rewritten = files[(change * 31) % files.length];
  const removed = files[(change * 17 + 5) % files.length];
  if (rewritten !== undefined) {
    const before = await readFile(join(folder, rewritten));
    const after = Buffer.concat([before, Buffer.from(`\n// ${marker} ${change}\n`)]);
    await replaceFile(layout, join(folder, rewritten), after);
  }
  await replaceFile(
    layout,
    join(folder, `added-${change}.txt`),
    Buffer.from(`${marker} ${change} of ${packageName}\n`),
  );
  if (removed !== undefined && removed !== rewritten && files.length > 2) await rm(join(folder, removed));
}

async function replaceFile(layout: Layout, path: string, content: Buffer): Promise<void> {
  const changed = join(layout.sources, '.changed');
  await writeFile(changed, content);
  await rename(changed, path);
}
