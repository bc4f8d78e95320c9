import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Layout } from './layout.js';
import { manifestFile } from './layout.js';

export interface ManifestEntry {
  /** Relative to the package's folder, with slashes. */
  path: string;
  sha256: string;
  bytes: number;
}

export interface Manifest {
  package: string;
  /** In order of their paths. */
  files: ManifestEntry[];
}

export interface Index {
  packages: { package: string; files: number; bytes: number }[];
}

/** Only the task that holds `package:<name>` exclusively writes it, so the temporary name needs no luck. */
export async function writeManifest(layout: Layout, manifest: Manifest): Promise<void> {
  await replaceFile(manifestFile(layout, manifest.package), manifest);
}

export async function writeIndex(layout: Layout, index: Index): Promise<void> {
  await replaceFile(layout.index, index);
}

/** null where the package was never mirrored. */
export async function readManifest(layout: Layout, packageName: string): Promise<Manifest | null> {
  return await readJson<Manifest>(manifestFile(layout, packageName));
}

export async function readAllManifests(layout: Layout): Promise<Manifest[]> {
  await mkdir(layout.manifests, { recursive: true });
  const names = (await readdir(layout.manifests)).filter((name) => name.endsWith('.json')).sort();
  const manifests = await Promise.all(names.map((name) => readJson<Manifest>(join(layout.manifests, name))));
  return manifests.filter((manifest) => manifest !== null);
}

async function replaceFile(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, JSON.stringify(content));
  await rename(`${path}.new`, path);
}

async function readJson<Content>(path: string): Promise<Content | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Content;
  } catch (error) {
    if (isNotFound(error, path)) return null;
    throw error;
  }
}

/** Whether `error` says that there is no file at `path`. */
export function isNotFound(error: unknown, path: string): boolean {
  if (!(error instanceof Error && 'code' in error && 'path' in error)) return false;
  return error.code === 'ENOENT' && error.path === path;
}
