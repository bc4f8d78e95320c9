// The servers that the benchmarks measure: real ones in temporary folders, on free ports of the loopback interface.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createPostgresDatabase } from '../dist/store/postgres-database.js';

export async function startRedis() {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    dir,
  ];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const probe = new Redis(port, { retryStrategy: () => 50 });
  probe.on('error', () => {});
  while ((await probe.ping().catch(() => '')) !== 'PONG') await delay(50);
  probe.disconnect();
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(dir, { recursive: true, force: true });
  };
  return { port, stop };
}

export async function startPostgres() {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const user = process.getuid() === 0 ? userOf('postgres') : {};
  if (user.uid !== undefined) chownSync(dir, user.uid, user.gid);
  const port = await freePort();
  const data = join(dir, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync', '--locale=C'];
  execFileSync(program('initdb'), initdb, { cwd: '/', stdio: 'ignore', ...user });
  const connections = 'max_connections=1000';
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `port=${port}`,
    'fsync=off',
    connections,
  ];
  settings.push('shared_buffers=512MB', 'max_wal_size=8GB', 'full_page_writes=off');
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(program('postgres'), args, { cwd: '/', stdio: 'ignore', ...user });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const probe = createPostgresDatabase({ connection: url });
  while (
    await probe.query('SELECT 1').then(
      () => false,
      () => true,
    )
  )
    await delay(100);
  await probe.close();
  return {
    url,
    pid: child.pid,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGINT');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function userOf(name) {
  const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(
    readFileSync('/etc/passwd', 'utf8'),
  );
  return { uid: Number(uid), gid: Number(gid) };
}

function program(name) {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  const found = versions
    .map((version) => join(debian, version, 'bin', name))
    .find((path) => existsSync(path));
  return found ?? name;
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
