import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PackageFolder {
  name: string;
  path: string;
}

/**
 * The packages in the nearest `node_modules` that has any: the one that this file is installed in, else one
 * beside a folder above this file, else one beside the working directory or a folder above it. By name.
 */
export async function findPackages(): Promise<PackageFolder[]> {
  for (const folder of candidates()) {
    const packages = await packagesIn(folder);
    if (packages.length > 0) return packages;
  }
  throw new Error(
    'There is no node_modules folder with packages at or above this program or the working directory. ' +
      'Run it where `npm install` has put some.',
  );
}

function candidates(): string[] {
  const above = foldersUpward(dirname(fileURLToPath(import.meta.url)));
  return [
    ...above.filter((folder) => basename(folder) === 'node_modules'),
    ...above.map((folder) => join(folder, 'node_modules')),
    ...foldersUpward(process.cwd()).map((folder) => join(folder, 'node_modules')),
  ];
}

function foldersUpward(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpward(parent)];
}

/** Also those in scopes, and those that a package manager has linked there. */
async function packagesIn(folder: string): Promise<PackageFolder[]> {
  const names = (await namesIn(folder)).filter((name) => !name.startsWith('.'));
  const scoped = names.filter((name) => name.startsWith('@'));
  const plain = names.filter((name) => !name.startsWith('@'));
  const inScopes = await Promise.all(
    scoped.map(async (scope) => (await namesIn(join(folder, scope))).map((name) => `${scope}/${name}`)),
  );
  const found: PackageFolder[] = [];
  for (const name of [...plain, ...inScopes.flat()].sort()) {
    const path = join(folder, ...name.split('/'));
    if (await isFile(join(path, 'package.json'))) found.push({ name, path: await realpath(path) });
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
