import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, test } from 'vitest';
import { sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from './servers.js';

test('the shared Redis answers', async () => {
  const redis = new Redis(sharedRedisUrl());
  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
});

test('the shared PostgreSQL answers, takes 400 connections, and sorts by language', async () => {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  const { rows } = await client.query(
    `SELECT current_setting('max_connections') AS connections, 'a' < 'B' AS linguistic`,
  );
  expect(rows).toEqual([{ connections: '400', linguistic: true }]);
  await client.end();
});

test('namespaces differ and are valid names', () => {
  expect(uniqueNamespace()).toMatch(/^[a-z][a-z0-9_]{0,39}$/);
  expect(uniqueNamespace()).not.toBe(uniqueNamespace());
});
