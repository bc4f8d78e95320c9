import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Layout } from './layout.js';
import type { Index, Manifest } from './manifests.js';
import { manifestFile, sourceFolder } from './layout.js';

export interface Verification {
  manifests: number;
  files: number;
  blobs: number;
  blobBytes: number;
  /** What is not as it must be, in words. Empty: all verified. */
  problems: string[];
}

/**
 * Compares what the tasks have left with the sources, reading everything anew and with none of the tasks' code:
 * every manifest names exactly the files of its package with their contents, every blob has the content that
 * its name says, none is missing, none is superfluous, and the index lists the manifests.
 */
export function verifyMirror(layout: Layout, packages: string[]): Verification {
  const problems: string[] = [];
  const blobs = readBlobs(layout, problems);
  const named = new Set<string>();
  const index: Index['packages'] = [];
  for (const name of packages) {
    const manifest = readJson(manifestFile(layout, name), problems) as Manifest | null;
    if (manifest === null) continue;
    for (const file of manifest.files) named.add(file.sha256);
    problems.push(...compare(name, manifest, readSource(layout, name)));
    index.push({ package: name, files: manifest.files.length, bytes: sum(manifest.files) });
  }
  for (const sha256 of named) if (!blobs.has(sha256)) problems.push(`blob ${sha256} is missing`);
  for (const sha256 of blobs.keys()) if (!named.has(sha256)) problems.push(`blob ${sha256} is garbage`);
  const published = readJson(layout.index, problems) as Index | null;
  if (JSON.stringify(published?.packages) !== JSON.stringify(index)) {
    problems.push('the index does not list the manifests');
  }
  return {
    manifests: index.length,
    files: index.reduce((total, entry) => total + entry.files, 0),
    blobs: blobs.size,
    blobBytes: [...blobs.values()].reduce((total, bytes) => total + bytes, 0),
    problems,
  };
}

/** The size of each blob, by the hash that its name says. */
function readBlobs(layout: Layout, problems: string[]): Map<string, number> {
  const blobs = new Map<string, number>();
  for (const path of filesBelow(layout.blobs)) {
    const content = readFileSync(join(layout.blobs, path));
    const name = path.replace('/', '');
    if (sha256(content) !== name) problems.push(`blob ${name} has another content`);
    blobs.set(name, content.length);
  }
  return blobs;
}

function readSource(layout: Layout, packageName: string): Map<string, string> {
  const folder = sourceFolder(layout, packageName);
  return new Map(filesBelow(folder).map((path) => [path, sha256(readFileSync(join(folder, path)))]));
}

function compare(packageName: string, manifest: Manifest, source: Map<string, string>): string[] {
  const problems: string[] = [];
  for (const file of manifest.files) {
    const found = source.get(file.path);
    if (found === undefined) problems.push(`${packageName}: ${file.path} is in the manifest only`);
    else if (found !== file.sha256) problems.push(`${packageName}: ${file.path} has another content`);
  }
  const paths = new Set(manifest.files.map((file) => file.path));
  const unnamed = [...source.keys()].filter((path) => !paths.has(path));
  return [...problems, ...unnamed.map((path) => `${packageName}: ${path} is not in the manifest`)];
}

function filesBelow(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = paths.map((path) => join(folder, path)).filter((path) => statSync(path).isFile());
  return files.map((path) => relative(folder, path).split(sep).join('/')).sort();
}

function readJson(path: string, problems: string[]): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    problems.push(`${path} cannot be read: ${String(error)}`);
    return null;
  }
}

function sum(files: Manifest['files']): number {
  return files.reduce((total, file) => total + file.bytes, 0);
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
