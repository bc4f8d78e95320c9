import { accessSync, constants, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export type Program =
  | 'redis-server'
  | 'redis-cli'
  | 'postgres'
  | 'initdb'
  | 'pg_ctl'
  | 'pg_basebackup'
  | 'pgbouncer'
  | 'faketime';

/** The Debian package that holds each program. */
export const packageOf: Record<Program, string> = {
  'redis-server': 'redis-server',
  'redis-cli': 'redis-tools',
  postgres: 'postgresql',
  initdb: 'postgresql',
  pg_ctl: 'postgresql',
  pg_basebackup: 'postgresql-client',
  pgbouncer: 'pgbouncer',
  faketime: 'faketime',
};

/** The path of a program, or null. PostgreSQL's own folders are searched too: Debian keeps them out of PATH. */
export function findProgram(program: Program): string | null {
  for (const folder of programFolders()) {
    const path = join(folder, program);
    if (isExecutable(path)) return realpathSync(path) === path ? path : resolved(path, program);
  }
  return null;
}

/** The path of a program. Throws an error that says what to install where it is missing. */
export function requireProgram(program: Program): string {
  const path = findProgram(program);
  if (path !== null) return path;
  throw new Error(
    `The tests need "${program}", which is not in PATH nor where Debian keeps it. ` +
      `On Debian or Ubuntu: apt-get install ${packageOf[program]}.`,
  );
}

function programFolders(): string[] {
  const inPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...inPath, ...postgresFolders(), '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];
}

function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  try {
    const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// PostgreSQL finds its other programs beside itself, so a link to it is followed, but not one that renames it:
// Debian's redis-server is a link to redis-check-rdb and decides by its own name what it is.
function resolved(path: string, program: Program): string {
  const target = realpathSync(path);
  return target === join(dirname(target), program) ? target : path;
}
