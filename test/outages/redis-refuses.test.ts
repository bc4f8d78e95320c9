import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../helpers/redis-server.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace, type OutageWorker } from './helpers/outage-place.js';

const ends: (() => unknown)[] = [];
let server: RedisServer;
let place: OutagePlace;
let workers: OutageWorker[];

beforeAll(async () => {
  server = await startRedis({ args: ['--enable-protected-configs', 'yes'] });
  place = await outagePlace(
    { onTestFinished: (end) => void ends.push(end as () => unknown) },
    { direct: { redis: server.url } },
  );
  workers = await Promise.all(
    ['a', 'b'].map((name) => place.worker(['--ttl', '15s', '--name', name, '--concurrency', '5'])),
  );
});
afterAll(async () => {
  for (const end of ends) await end();
  await server.stop();
});

/** One that connects also where the server answers nothing but SCRIPT KILL. */
function clientOf({ url }: RedisServer): Redis {
  return new Redis(url, { enableReadyCheck: false, disableClientInfo: true });
}

async function commands(...lines: [string, ...string[]][]): Promise<void> {
  const redis = clientOf(server);
  try {
    for (const [name, ...args] of lines) await redis.call(name, args);
  } finally {
    redis.disconnect();
  }
}

const spin = 'while true do end';

/** A script that goes on for ever, and has not written anything. */
async function beginBusyScript(): Promise<void> {
  await commands(['CONFIG', 'SET', 'busy-reply-threshold', '100']);
  const redis = clientOf(server);
  redis.eval(spin, 0).catch(() => {});
  await delay(500);
  redis.disconnect();
}

const longAwayMs = 1_000 * Number(process.env['OUTAGES_SECONDS'] ?? 4);

const refusals: [string, () => unknown, () => unknown][] = [
  ['gone for 1 s', () => place.redis?.refuse(), () => place.redis?.accept()],
  ['gone for longer', () => place.redis?.refuse(), () => delay(longAwayMs).then(() => place.redis?.accept())],
  ['silent', () => place.redis?.silence(), () => delay(4_000).then(() => place.redis?.heal())],
  [
    'full',
    () => commands(['CONFIG', 'SET', 'maxmemory', '1']),
    () => commands(['CONFIG', 'SET', 'maxmemory', '0']),
  ],
  [
    'not able to save (MISCONF)',
    () => commands(['CONFIG', 'SET', 'dir', '/proc'], ['CONFIG', 'SET', 'save', '3600 1']).then(failToSave),
    () => commands(['CONFIG', 'SET', 'save', '']),
  ],
  [
    'a replica (READONLY)',
    () => commands(['REPLICAOF', '127.0.0.1', '1']),
    () => commands(['REPLICAOF', 'NO', 'ONE']),
  ],
  ['busy with a script', beginBusyScript, () => commands(['SCRIPT', 'KILL'])],
  [
    'refusing its user (ACL)',
    () => commands(['ACL', 'SETUSER', 'default', '-evalsha', '-eval', '-blpop']),
    () => commands(['ACL', 'SETUSER', 'default', '+@all']),
  ],
];

async function failToSave(): Promise<void> {
  const redis = clientOf(server);
  try {
    await redis.call('BGSAVE').catch(() => {});
    const failed = async (): Promise<boolean> =>
      (await redis.info('persistence')).includes('rdb_last_bgsave_status:err');
    await waitUntil(failed, 'saving has failed');
  } finally {
    redis.disconnect();
  }
}

describe('a Redis that is', () => {
  test.each(refusals)(
    '%s: what runs goes on and ends, and all else is done after its repair',
    async (name, begin, end) => {
      const { hf } = place;
      const held = await hf.dispatch('work', { ms: 1_500 }, { exclusive: ['held'] });
      await waitUntil(async () => (await hf.tasks.get(held.id)).progress.length > 0, 'it runs', 20_000);
      await begin();
      const behind = await hf.dispatchMany(
        Array.from({ length: 30 }, (_, n) => ({
          name: 'work',
          payload: {},
          exclusive: n < 10 ? ['held'] : [`r${n}`],
        })),
      );
      const ended = async (): Promise<boolean> => (await hf.tasks.get(held.id)).state === 'completed';
      await waitUntil(ended, 'what runs has ended, as PostgreSQL tells', 20_000);
      await end();
      const repaired = performance.now();
      const canary = await hf.dispatch('work', {});
      await hf.wait(canary.id, { timeout: '30s' });
      const ms = Math.round(performance.now() - repaired);
      console.log(`${name}: a task ended within ${ms} ms of its repair`);
      expect(ms).toBeLessThan(5_000);
      for (const { id } of behind) {
        // One whose claim got no reply was given back: it has another entry then, and no attempt is counted.
        expect(await hf.wait(id, { timeout: '20s' })).toMatchObject({ state: 'completed', attempt: 1 });
      }
      for (const { child, stderr } of workers) {
        expect(child.exitCode).toBeNull();
        expect(stderr).not.toMatch(/[Uu]nhandled|uncaught|fenced/);
      }
    },
    180_000 + longAwayMs,
  );

  test('after all of them nothing is left', async () => {
    await place.end();
  });
});
