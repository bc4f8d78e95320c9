import { chownSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { unprivilegedUser } from './postgres-server.js';
import { requireProgram } from './programs.js';
import { startServerProcess, temporaryFolder, withFreePort } from './server-process.js';

export interface PgBouncer {
  /** To be used in place of PostgreSQL's own. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a PgBouncer in transaction mode, with 20 server connections, in front of a PostgreSQL. */
export async function startPgBouncer(postgresUrl: string): Promise<PgBouncer> {
  return withFreePort((port) => startOn(port, new URL(postgresUrl)));
}

async function startOn(port: number, target: URL): Promise<PgBouncer> {
  const dir = temporaryFolder('pgbouncer');
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  writeFileSync(join(dir, 'users.txt'), `"${target.username}" ""\n`);
  writeFileSync(join(dir, 'pgbouncer.ini'), settings(port, dir, target));
  const { pid, stop } = await startServerProcess({
    program: requireProgram('pgbouncer'),
    args: [join(dir, 'pgbouncer.ini')],
    dir,
    user,
    stopSignal: 'SIGTERM',
    ready: () => listens(port),
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { url: url.href, pid, stop };
}

function settings(port: number, dir: string, target: URL): string {
  return `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(dir, 'users.txt')}
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
