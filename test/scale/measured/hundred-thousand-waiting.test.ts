import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createHoldfast, type Holdfast } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../../helpers/server-process.js';
import { type PostgresServer, startPostgres } from '../../helpers/postgres-server.js';
import { type RedisServer, startRedis } from '../../helpers/redis-server.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { startWorkerProcess } from '../worker-processes.js';

const backlog = 100_000;
const samples = 15;

let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

test('behind 100,000 tasks that wait for one held resource, a free one starts as fast and claims cost the same', async () => {
  const dir = temporaryFolder('waiting');
  const urls = { database: postgres.url, redis: redis.url };
  const env = { HOLDFAST_DATABASE_URL: urls.database, HOLDFAST_REDIS_URL: urls.redis };
  const hf = await createHoldfast({ ...urls, migrate: true });
  const monitor = new Redis(redis.url);
  const worker = await startWorkerProcess(env, ['--concurrency', '10']);
  try {
    const before = await measure(hf, monitor, 'before');

    const until = `${dir}/held`;
    writeFileSync(until, '');
    const holder = await hf.dispatch('journal.hold', { until }, { exclusive: ['held'] });
    await waitUntil(async () => (await hf.tasks.get(holder.id)).state === 'running', 'the holder runs');
    for (let from = 0; from < backlog; from += 10_000) await hf.dispatchMany(waiters());
    await waitUntil(
      async () => (await hf.locks.list({ resource: 'held' })).locks[0]?.waitingCount === backlog,
      'all of them queue',
      120_000,
    );

    const after = await measure(hf, monitor, 'after');
    console.log({ before, after });
    expect(after.startMs).toBeLessThanOrEqual(before.startMs + 50);
    expect(after.commandsEach).toBeLessThanOrEqual(before.commandsEach * 1.2);
    expect(existsSync(until)).toBe(true);
    rmSync(until);
    await hf.wait(holder.id, { timeout: '10s' });
  } finally {
    worker.process.kill('SIGKILL');
    monitor.disconnect();
    await hf.close();
    removeFolder(dir);
  }
}, 300_000);

function waiters(): { name: string; payload: unknown; exclusive: string[] }[] {
  return Array.from({ length: 10_000 }, () => ({ name: 'journal.work', payload: {}, exclusive: ['held'] }));
}

/** Median time from before the dispatch to the start, and all that Redis executed for one task's life. */
async function measure(
  hf: Holdfast,
  redis: Redis,
  name: string,
): Promise<{ startMs: number; commandsEach: number }> {
  const times: number[] = [];
  const commandsBefore = await commandsExecuted(redis);
  for (let sample = 0; sample < samples; sample++) {
    const dispatchedAt = Date.now();
    const task = await hf.dispatch('journal.work', {}, { exclusive: [`free:${name}:${sample}`] });
    const { startedAt } = await hf.wait(task.id, { timeout: '30s' });
    times.push(Date.parse(startedAt ?? '') - dispatchedAt);
  }
  const commands = (await commandsExecuted(redis)) - commandsBefore;
  const startMs = times.sort((a, b) => a - b)[Math.floor(samples / 2)] ?? Infinity;
  return { startMs, commandsEach: commands / samples };
}

async function commandsExecuted(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
