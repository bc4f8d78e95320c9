import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres, unprivilegedUser, type PostgresServer } from '../../helpers/postgres-server.js';
import { requireProgram } from '../../helpers/programs.js';
import { freePort, removeFolder, temporaryFolder } from '../../helpers/server-process.js';

/** A PostgreSQL that comes back where it was, with its data. */
export interface RestartablePostgres {
  url: string;
  /** Its sessions are ended; nothing that was committed is lost. Idempotent. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** As by a power cut. */
  kill(): Promise<void>;
  /** A standby of it that follows, once `start` is called. */
  standby(): Promise<RestartablePostgres>;
  /** With its data. */
  remove(): Promise<void>;
}

export async function restartablePostgres(
  settings: Record<string, string> = {},
): Promise<RestartablePostgres> {
  return serverAt(await freePort(), join(ownFolder(), 'data'), settings);
}

function serverAt(port: number, data: string, settings: Record<string, string>): RestartablePostgres {
  let server: PostgresServer | null = null;
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const stop = async (): Promise<void> => {
    const running = server;
    server = null;
    await running?.stop();
  };
  return {
    url,
    stop,
    start: async () => {
      server ??= await startPostgres({ port, data, settings });
    },
    kill: async () => {
      server?.kill('SIGQUIT');
      await stop();
    },
    standby: () => standbyOf(url, settings),
    remove: async () => {
      await stop();
      removeFolder(join(data, '..'));
    },
  };
}

async function standbyOf(url: string, settings: Record<string, string>): Promise<RestartablePostgres> {
  const data = join(ownFolder(), 'data');
  const args = ['-D', data, '-d', url, '-R', '-X', 'stream', '-c', 'fast'];
  execFileSync(requireProgram('pg_basebackup'), args, { cwd: '/', stdio: 'pipe', ...unprivilegedUser() });
  return serverAt(await freePort(), data, settings);
}

function ownFolder(): string {
  const folder = temporaryFolder('restartable');
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}
