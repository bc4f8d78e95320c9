import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharedPostgresUrl, uniqueNamespace } from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { compiledFile } from '../entry-point.js';
import { WrongTable } from '../errors.js';
import { silentLogger } from '../log.js';
import { MemoryTableLock } from './memory-table-lock.js';

let namespace: string;
let locks: MemoryTableLock[];
let owner: ChildProcess | null;

beforeEach(() => {
  namespace = uniqueNamespace();
  locks = [];
  owner = null;
});
afterEach(async () => {
  owner?.kill('SIGKILL');
  for (const lock of locks) await lock.release();
});

function newLock(ofNamespace = namespace): MemoryTableLock {
  const lock = new MemoryTableLock({
    database: sharedPostgresUrl(),
    namespace: ofNamespace,
    log: silentLogger,
  });
  locks.push(lock);
  return lock;
}

async function startOwner(): Promise<ChildProcess> {
  const script = `
    import { MemoryTableLock } from ${JSON.stringify(compiledFile(import.meta.url, './memory-table-lock.js').href)};
    const [database, namespace] = process.argv.slice(1);
    const log = { warn() {}, info() {}, debug() {}, error() {} };
    await new MemoryTableLock({ database, namespace, log }).take();
    console.log('taken');
  `;
  owner = spawn(process.execPath, ['--input-type=module', '-e', script, sharedPostgresUrl(), namespace], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (owner.stdout !== null) await once(owner.stdout, 'data');
  return owner;
}

async function endSessions(): Promise<void> {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND objsubid = 1 AND granted
       AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('holdfast: table in memory: ' || $1, 0)`,
    [namespace],
  );
  await client.end();
}

describe('MemoryTableLock', () => {
  it('refuses a second process while the first lives, and not when it was killed', async () => {
    const first = await startOwner();
    await expect(newLock().take()).rejects.toThrow(WrongTable);
    first.kill('SIGKILL');
    const next = newLock();
    await next.take();
    expect(next.held).toBe(true);
  });

  it('refuses a second one in the same process until the first is released', async () => {
    const first = newLock();
    await first.take();
    await expect(newLock().take()).rejects.toThrow(`The lock table of namespace "${namespace}"`);
    await newLock(uniqueNamespace()).take();
    await first.release();
    expect(first.held).toBe(false);
    await newLock().take();
  });

  it('takes the lock again when its session was ended', async () => {
    const lock = newLock();
    await lock.take();
    await endSessions();
    await waitUntil(() => !lock.held, 'the loss is noticed');
    await waitUntil(() => lock.held, 'the lock is back');
    await expect(newLock().take()).rejects.toThrow(WrongTable);
  });
});
