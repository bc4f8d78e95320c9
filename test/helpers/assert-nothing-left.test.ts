import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { assertNothingLeft } from './assert-nothing-left.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from './servers.js';

let namespace: string;
let redis: Redis;
let client: pg.Client;

// Only what the helper reads: the real table and schema have their own tests.
beforeEach(async () => {
  namespace = uniqueNamespace();
  redis = new Redis(sharedRedisUrl());
  client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  await client.query(`CREATE SCHEMA ${namespace}`);
  await client.query(`CREATE TABLE ${namespace}.tasks (id text, name text, state text, place bigint)`);
  await redis.hset(`{${namespace}}:epoch`, { number: '7', status: 'open' });
});

afterEach(async () => {
  redis.disconnect();
  await client.end();
  await dropNamespace(namespace);
});

function judge(): Promise<void> {
  return assertNothingLeft({ redisUrl: sharedRedisUrl(), databaseUrl: sharedPostgresUrl(), namespace });
}

test('final tasks, constant keys and older epochs are fine', async () => {
  await client.query(
    `INSERT INTO ${namespace}.tasks VALUES ('1', 'a', 'completed', 1), ('2', 'a', 'failed', 2)`,
  );
  await redis.set(`{${namespace}}:7:fence`, '12');
  await redis.set(`{${namespace}}:6:lock:R`, 'x');
  await redis.rpush(`{${namespace}}:wake`, '1');
  await judge();
});

test.each([
  'hold:x',
  'waits:x',
  'lock:R',
  'queue:R',
  'ready:L',
  'lanes',
  'wake:L',
  'owner_locks:w:1',
  'marks',
])('a key %s is found', async (key) => {
  await redis.set(`{${namespace}}:7:${key}`, '1');
  await expect(judge()).rejects.toThrow(`key {${namespace}}:7:${key}`);
});

test.each(['waiting', 'running', 'canceling', 'rolling_back'])(
  'a task that is %s is found',
  async (state) => {
    await client.query(`INSERT INTO ${namespace}.tasks VALUES ('1', 'mine', $1, 1)`, [state]);
    await expect(judge()).rejects.toThrow(`task 1 (mine) is ${state}`);
  },
);
