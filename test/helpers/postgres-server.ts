import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { requireProgram } from './programs.js';
import { removeFolder, startServerProcess, temporaryFolder, withFreePort } from './server-process.js';

export interface PostgresServer {
  url: string;
  port: number;
  /** The postmaster's. */
  pid: number;
  dir: string;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone, whoever ended it. */
  exited: Promise<void>;
}

export interface PostgresOptions {
  settings?: Record<string, string>;
  env?: Record<string, string>;
  /** To come back where an earlier server was; otherwise a free one. */
  port?: number;
  /** A data folder of the caller's own, which is kept: made where it is not there, and gone on with where it is. */
  data?: string;
}

const defaults: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  shared_buffers: '128MB',
  // The data is thrown away with the server: nothing needs to survive a power cut.
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '2GB',
};

/** Starts a real PostgreSQL in a temporary folder on the loopback interface. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { port } = options;
  return port === undefined ? withFreePort((free) => startOn(free, options)) : startOn(port, options);
}

async function startOn(port: number, options: PostgresOptions): Promise<PostgresServer> {
  const dir = temporaryFolder('postgres');
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  const data = options.data ?? join(dir, 'data');
  try {
    if (!existsSync(join(data, 'PG_VERSION'))) initialise(data, user);
  } catch (error) {
    removeFolder(dir);
    throw error;
  }
  const settings = { ...defaults, port: String(port), ...options.settings };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const { pid, exited, kill, stop } = await startServerProcess({
    program: requireProgram('postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    dir,
    user,
    env: options.env,
    // Fast shutdown: sessions are ended, the data stays consistent.
    stopSignal: 'SIGINT',
    ready: () => accepts(url),
  });
  return { url, port, pid, dir, kill, stop, exited };
}

// A linguistic collation, as most production databases have: an ORDER BY that counts on byte order shows here.
function initialise(data: string, user: ReturnType<typeof unprivilegedUser>): void {
  const common = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  const run = (collation: string[]): void => {
    const options = { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'] };
    execFileSync(requireProgram('initdb'), [...common, ...collation], { ...options, ...user });
  };
  try {
    run(['--locale=C', '--locale-provider=icu', '--icu-locale=en']);
  } catch {
    // PostgreSQL 14 and builds without ICU have no such option.
    rmSync(data, { recursive: true, force: true });
    run(['--locale=C']);
  }
}

/** PostgreSQL refuses to run as root; its own user is there wherever Debian installed it, nobody everywhere. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const passwd = readFileSync('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no user "postgres" or "nobody" to run it as.',
  );
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end().catch(() => {});
  }
}
