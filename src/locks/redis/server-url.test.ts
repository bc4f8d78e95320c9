import { describe, expect, test } from 'vitest';
import { NotConfigured } from '../../errors.js';
import { addressOfOptions, parseServerUrl } from './server-url.js';

describe('Redis URLs', () => {
  test('a standalone server', () => {
    expect(parseServerUrl('redis://localhost')).toEqual({
      kind: 'standalone',
      text: 'redis://localhost:6379/0',
      options: { host: 'localhost', port: 6379, db: 0 },
      nodes: [],
    });
    const secret = parseServerUrl('rediss://us%3Aer:p%40ss@[::1]:7000/3');
    expect(secret.options).toEqual({
      host: '::1',
      port: 7000,
      db: 3,
      username: 'us:er',
      password: 'p@ss',
      tls: {},
    });
    expect(secret.text).toBe('rediss://[::1]:7000/3');
  });

  test('Sentinels, and the same address in whatever order they are named', () => {
    const address = parseServerUrl('redis+sentinel://:secret@b:1,a/main/2');
    expect(address).toMatchObject({ kind: 'sentinel', text: 'redis+sentinel://a:26379,b:1/main/2' });
    expect(address.options).toEqual({
      sentinels: [
        { host: 'b', port: 1 },
        { host: 'a', port: 26379 },
      ],
      name: 'main',
      db: 2,
      password: 'secret',
    });
    expect(parseServerUrl('redis+sentinel://a,b:1/main/2').text).toBe(address.text);
    expect(parseServerUrl('rediss+sentinel://a/main').options).toMatchObject({
      tls: {},
      sentinelTLS: {},
      enableTLSForSentinelMode: true,
    });
  });

  test('a Cluster', () => {
    expect(parseServerUrl('redis+cluster://u:p@h2:7001,h1')).toEqual({
      kind: 'cluster',
      text: 'redis+cluster://h1:6379,h2:7001',
      options: { username: 'u', password: 'p' },
      nodes: [
        { host: 'h2', port: 7001 },
        { host: 'h1', port: 6379 },
      ],
    });
  });

  test.each([
    '',
    'localhost:6379',
    'http://localhost',
    'redis://',
    'redis://h1,h2',
    'redis://h/0/1',
    'redis://h/zero',
    'redis://h:0',
    'redis://h:65536',
    'redis://h:x',
    'redis://h?db=1',
    'redis://user@h',
    'redis://:%zz@h',
    'redis+sentinel://h',
    'redis+sentinel://h/',
    'redis+sentinel://h/main/0/1',
    'redis+sentinel://h/main/x',
    'redis+cluster://h/1',
    'redis+cluster://h,,h',
    'redis://:pa/ss-secret@h',
  ])('%s is refused, without repeating a secret', (url) => {
    expect(() => parseServerUrl(url)).toThrow(NotConfigured);
    expect(() => parseServerUrl(url)).not.toThrow(/secret/);
  });

  test('options of ioredis have an address, too', () => {
    expect(addressOfOptions({}).text).toBe('redis://localhost:6379/0');
    expect(addressOfOptions({ host: 'h', port: 1, db: 2, password: 's' }).text).toBe('redis://h:1/2');
    expect(addressOfOptions({ path: '/run/redis.sock' }).text).toBe('redis:///run/redis.sock/0');
    expect(
      addressOfOptions({ sentinels: [{ host: 'b', port: 1 }, { host: 'a' }], name: 'main' }),
    ).toMatchObject({
      kind: 'sentinel',
      text: 'redis+sentinel://a:26379,b:1/main/0',
    });
    expect(() => addressOfOptions({ sentinels: [{ host: 'a' }] })).toThrow(NotConfigured);
  });
});
