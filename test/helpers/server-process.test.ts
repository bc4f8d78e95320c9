import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { processLives as lives } from './process-lives.js';
import { startPostgres } from './postgres-server.js';
import { startRedis } from './redis-server.js';
import { waitUntil } from './wait-until.js';

test('a stopped server leaves neither process nor folder', async () => {
  const servers = await Promise.all([startRedis(), startPostgres()]);
  for (const { pid, dir } of servers) expect([lives(pid), existsSync(dir)]).toEqual([true, true]);
  await Promise.all(servers.map((server) => server.stop()));
  for (const { pid, dir } of servers) expect([lives(pid), existsSync(dir)]).toEqual([false, false]);
});

test('a frozen server can be stopped', async () => {
  const redis = await startRedis();
  redis.kill('SIGSTOP');
  await redis.stop();
  expect(lives(redis.pid)).toBe(false);
});

test('a server that cannot start says why and leaves nothing', async () => {
  await expect(startRedis({ args: ['--no-such-option', 'x'] })).rejects.toThrow(/no-such-option/);
});

test('servers end with the process that started them, also when it is killed', async () => {
  const helper = fileURLToPath(new URL('./redis-server.ts', import.meta.url));
  const script = `import { runnerImport } from 'vite';
    const { module } = await runnerImport(${JSON.stringify(helper)});
    const { pid, dir } = await module.startRedis();
    console.log(JSON.stringify({ pid, dir }));
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const { pid, dir } = JSON.parse(line.toString()) as { pid: number; dir: string };
  expect(lives(pid)).toBe(true);
  owner.kill('SIGKILL');
  await waitUntil(() => !lives(pid) && !existsSync(dir), 'the server and its folder are gone');
});
