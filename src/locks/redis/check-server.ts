import { NotConfigured, ScriptFailed, Unavailable, UnsafeServer } from '../../errors.js';
import type { Connection } from './connection.js';
import type { ScriptRunner } from './script-runner.js';
import { identity } from './scripts/identity.js';
import type { ServerAddress } from './server-url.js';

const oldestVersion = 7;

/** Throws UnsafeServer, with what to do, where a guarantee could not be kept on this server. */
export async function checkServer(
  connection: Connection,
  scripts: ScriptRunner,
  kind: ServerAddress['kind'],
): Promise<void> {
  await connection.sendOrUnavailable('PING', []);
  const info = await readInfo(connection);
  checkVersion(info);
  checkRole(info, kind);
  await checkPolicy(connection, info);
  await checkIdentity(scripts);
}

async function readInfo(connection: Connection): Promise<Map<string, string>> {
  let text: unknown;
  try {
    text = await connection.send('INFO', []);
  } catch (error) {
    if (isDenied(error)) throw withheldInfo();
    throw new Unavailable('Redis did not answer INFO.', { cause: error });
  }
  const lines = String(text).split('\r\n');
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
}

function checkVersion(info: Map<string, string>): void {
  const version = info.get('redis_version') ?? 'unknown';
  if (Number.parseInt(version, 10) >= oldestVersion) return;
  throw new UnsafeServer(
    `The lock table needs Redis ${oldestVersion} or later; this server is ${version}. Upgrade it.`,
  );
}

function checkRole(info: Map<string, string>, kind: ServerAddress['kind']): void {
  if (info.get('role') === 'slave') {
    throw new Unavailable(
      'Redis is a replica here, and cannot be written to. Point the URL at the master, or use redis+sentinel://.',
    );
  }
  if (info.get('cluster_enabled') === '1' && kind !== 'cluster') {
    throw new NotConfigured('This Redis is part of a Cluster: use a redis+cluster:// URL.');
  }
}

/** G7: an evicted lock is a lock that two may take, and nothing would tell that it is gone. */
async function checkPolicy(connection: Connection, info: Map<string, string>): Promise<void> {
  const policy = info.get('maxmemory_policy') ?? (await readPolicy(connection));
  if (policy === 'noeviction') return;
  throw new UnsafeServer(
    `Redis may evict locks: its maxmemory-policy is ${policy ?? 'unknown'}. ` +
      'Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf).',
  );
}

async function readPolicy(connection: Connection): Promise<string | undefined> {
  try {
    const [, policy] = (await connection.send('CONFIG', ['GET', 'maxmemory-policy'])) as [string, string];
    return policy;
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw new Unavailable('Redis did not answer CONFIG GET.', { cause: error });
  }
}

/** Every script asks which server it runs on; see rule 1 of the protocol. */
async function checkIdentity(scripts: ScriptRunner): Promise<void> {
  try {
    await scripts.run(identity, '0', null);
  } catch (error) {
    // The script fails on what INFO tells, or is not allowed to ask.
    if (error instanceof ScriptFailed) throw withheldInfo();
    if (error instanceof Unavailable && isDenied(error.cause)) throw withheldInfo();
    throw error;
  }
}

function withheldInfo(): UnsafeServer {
  return new UnsafeServer(
    'Redis withholds INFO from scripts, so a fail-over that lost locks could not be noticed. ' +
      'Allow INFO to this user (ACL SETUSER … +info), or use a server that has it.',
  );
}

/** An access rule, or a server that does not know the command. */
function isDenied(error: unknown): boolean {
  return (
    error instanceof Error &&
    /NOPERM|unknown command|can't run this command|not allowed from script/i.test(error.message)
  );
}
