import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder, temporaryFolder } from './server-process.js';

export const projectRoot: string = fileURLToPath(new URL('../..', import.meta.url));

/** A folder outside the repository in which the packed tarball is installed, as it is for a user. */
export interface InstalledPackage {
  dir: string;
  /** The files of the tarball, relative to the package. */
  files: string[];
  /** For a shell in which `holdfast` is a command. */
  env: NodeJS.ProcessEnv;
  remove(): void;
}

interface Manifest {
  dependencies: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/**
 * Packs what was built and installs it without a network: the package is unpacked, and exactly its declared
 * dependencies are links to the repository's own. One that is used and not declared is not found.
 */
export function installPackage(options: { peers?: boolean } = {}): InstalledPackage {
  const dir = temporaryFolder('installed');
  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], projectRoot),
  ) as [{ filename: string; files: { path: string }[] }];
  unpack(join(dir, packed.filename), dir, options);
  return {
    dir,
    files: packed.files.map((file) => file.path),
    env: cleanEnvironment(dir),
    remove: () => removeFolder(dir),
  };
}

/** Installs the build of the version before, with the dependencies of this one. */
export function installPrevious(): Omit<InstalledPackage, 'files'> {
  const dir = temporaryFolder('previous');
  unpack(join(projectRoot, 'test/upgrade/previous.tgz'), dir, {});
  return { dir, env: cleanEnvironment(dir), remove: () => removeFolder(dir) };
}

function unpack(archive: string, dir: string, { peers = false }: { peers?: boolean }): void {
  const target = join(dir, 'node_modules/holdfast');
  mkdirSync(target, { recursive: true });
  run('tar', ['-xzf', archive, '-C', target, '--strip-components=1'], dir);
  const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as Manifest;
  link(dir, Object.keys(manifest.dependencies));
  if (peers) link(dir, Object.keys(manifest.peerDependencies ?? {}));
  mkdirSync(join(dir, 'node_modules/.bin'));
  symlinkSync('../holdfast/dist/cli/main.js', join(dir, 'node_modules/.bin/holdfast'));
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
}

function link(dir: string, names: string[]): void {
  for (const name of names) {
    const path = join(dir, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(projectRoot, 'node_modules', name), path);
  }
}

/** This process's environment without what would configure Holdfast, or tell a child that it runs under a test. */
function cleanEnvironment(dir: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDFAST|VITEST|NODE_ENV$|TEST$)/.test(name),
  );
  const path = `${join(dir, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`;
  return { ...Object.fromEntries(kept), PATH: path };
}

function run(program: string, args: string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
