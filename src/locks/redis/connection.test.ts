import { afterEach, describe, expect, test } from 'vitest';
import { sharedRedisUrl } from '../../../test/helpers/servers.js';
import { waitUntil } from '../../../test/helpers/wait-until.js';
import { silentLogger } from '../../log.js';
import { Connection } from './connection.js';
import { parseServerUrl } from './server-url.js';

describe('a connection', () => {
  const opened: Connection[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each.close();
  });

  function open(log = silentLogger): Connection {
    const address = parseServerUrl(sharedRedisUrl());
    const connection = new Connection({ address, key: 'k', commandLimitMs: 2_000, log });
    opened.push(connection);
    return connection;
  }

  test('that the client library has given up for good is made again', async () => {
    const connection = open();
    const ended = new Promise((resolve) => connection.redis.once('end', resolve));
    connection.redis.connect().catch(() => {});
    connection.redis.disconnect(true);
    await ended;
    await waitUntil(() => connection.redis.status === 'ready', 'it is connected');
    expect(await connection.send('PING', [])).toBe('PONG');
  });

  test('that was closed stays closed', async () => {
    const connection = open();
    await connection.connected();
    const ended = new Promise((resolve) => connection.redis.once('end', resolve));
    connection.close();
    await ended;
    await expect(connection.connected()).rejects.toThrow(/stopped/);
    await expect(connection.send('PING', [])).rejects.toThrow();
    expect(connection.redis.status).toBe('end');
  });

  test('that is closed while it connects tells of no loss', async () => {
    const told: string[] = [];
    const connection = open({ ...silentLogger, warn: (_fields, message) => void told.push(message) });
    const ended = new Promise((resolve) => connection.redis.once('end', resolve));
    connection.redis.once('connect', () => connection.close());
    await expect(connection.connected()).rejects.toThrow(/cannot be reached/);
    await ended;
    expect(told).toEqual([]);
  });

  test('leaves a command that the server refuses to its caller', async () => {
    const connection = open();
    await connection.connected();
    await expect(connection.send('NO-SUCH-COMMAND', [])).rejects.toThrow(/unknown command/);
    await expect(connection.sendOrUnavailable('NO-SUCH-COMMAND', [])).rejects.toMatchObject({
      code: 'Unavailable',
    });
    expect(connection.redis.status).toBe('ready');
  });

  test('takes an answer that came while this process was busy for longer than a command may take', async () => {
    const connection = open();
    await connection.connected();
    const answer = connection.send('PING', []);
    const started = performance.now();
    while (performance.now() - started < 3_000);
    expect(await answer).toBe('PONG');
  });
});
