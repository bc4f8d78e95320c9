import { PGlite } from '@electric-sql/pglite';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectRoot } from './installed-package.js';

/**
 * Fills a new folder with a PGlite that has no tables yet, as PGlite does itself where it is given an empty one.
 * Copied, this takes a tenth of the time. One is made for each version of PGlite and kept with what is installed.
 */
export async function fillPgliteFolder(folder: string): Promise<void> {
  const cache = join(projectRoot, 'node_modules/.cache/pglite');
  const made = join(cache, await pgliteVersion());
  const copy = (): Promise<void> => cp(made, folder, { recursive: true, errorOnExist: true, force: false });
  await copy().catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(cache, { recursive: true });
    await make(made);
    await copy();
  });
}

/** Whoever makes it at the same time has made the same: the first one stays. */
async function make(target: string): Promise<void> {
  const making = await mkdtemp(`${target}-`);
  await (await PGlite.create({ dataDir: making })).close();
  await rename(making, target).catch(async (error: unknown) => {
    await rm(making, { recursive: true });
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  });
}

async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const manifest = join(dirname(entry), '../package.json');
  return (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version;
}
