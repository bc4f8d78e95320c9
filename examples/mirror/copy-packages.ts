import { copyFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PackageFolder } from './find-packages.js';
import type { Layout } from './layout.js';
import { listFiles } from './files.js';
import { sourceFolder } from './layout.js';

/** What keeps the demo short: larger packages and files are left out, and so is what exceeds the sums. */
const limits = {
  packages: 48,
  files: 2_500,
  bytes: 32 * 1024 * 1024,
  filesOfPackage: 300,
  bytesOfPackage: 6 * 1024 * 1024,
  bytesOfFile: 5 * 1024 * 1024,
} as const;

interface Candidate extends PackageFolder {
  files: string[];
  bytes: number;
}

export interface CopiedPackages {
  /** Their names, in order. */
  packages: string[];
  /** Whether an earlier run had copied them. */
  resumes: boolean;
}

/**
 * Copies real packages into the mirror's sources: a sample from all over the alphabet. Copies that an earlier
 * run has completed are kept as they are; copies that it left unfinished are made anew.
 */
export async function copyPackages(layout: Layout, packages: PackageFolder[]): Promise<CopiedPackages> {
  const complete = join(layout.sources, '.complete');
  if (await exists(complete)) return { packages: await copiedPackages(layout), resumes: true };
  await rm(layout.sources, { recursive: true, force: true });
  const chosen = await choosePackages(packages);
  for (const candidate of chosen) await copyPackage(layout, candidate);
  await writeFile(complete, '');
  return { packages: chosen.map(({ name }) => name).sort(), resumes: false };
}

async function choosePackages(packages: PackageFolder[]): Promise<Candidate[]> {
  const chosen: Candidate[] = [];
  let files = 0;
  let bytes = 0;
  for (const found of spread(packages)) {
    const candidate = await measure(found);
    if (candidate === null) continue;
    if (files + candidate.files.length > limits.files || bytes + candidate.bytes > limits.bytes) continue;
    files += candidate.files.length;
    bytes += candidate.bytes;
    chosen.push(candidate);
    if (chosen.length === limits.packages) break;
  }
  return chosen;
}

/** The same items, neighbours far apart: every seventh, then those after them, and so on. */
function spread<Item>(items: Item[]): Item[] {
  const step = 7;
  return Array.from({ length: step }, (_, first) => items.filter((__, at) => at % step === first)).flat();
}

/** null for a package that is empty or too large. */
async function measure(found: PackageFolder): Promise<Candidate | null> {
  const candidate: Candidate = { ...found, files: [], bytes: 0 };
  for (const file of await listFiles(found.path)) {
    const { size } = await stat(join(found.path, file));
    if (size > limits.bytesOfFile) continue;
    candidate.files.push(file);
    candidate.bytes += size;
    if (candidate.files.length > limits.filesOfPackage || candidate.bytes > limits.bytesOfPackage)
      return null;
  }
  return candidate.files.length === 0 ? null : candidate;
}

async function copyPackage(layout: Layout, { name, path, files }: Candidate): Promise<void> {
  const target = sourceFolder(layout, name);
  for (const folder of new Set(files.map((file) => dirname(join(target, file))))) {
    await mkdir(folder, { recursive: true });
  }
  for (const file of files) await copyFile(join(path, file), join(target, file));
}

async function copiedPackages(layout: Layout): Promise<string[]> {
  const names = (await readdir(layout.sources)).filter((name) => !name.startsWith('.'));
  const found = await Promise.all(
    names.map(async (name) => {
      if (!name.startsWith('@')) return [name];
      return (await readdir(join(layout.sources, name))).map((inner) => `${name}/${inner}`);
    }),
  );
  return found.flat().sort();
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
