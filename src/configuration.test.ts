import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { defaultWorkerName, resolveConfiguration } from './configuration.js';
import { NotConfigured } from './errors.js';

const database = 'postgres://localhost/app';
const redis = 'redis://localhost';

describe('resolveConfiguration', () => {
  it('takes the environment', () => {
    const environment = {
      HOLDFAST_DATABASE_URL: database,
      HOLDFAST_REDIS_URL: redis,
      HOLDFAST_NAMESPACE: 'jobs',
    };
    expect(resolveConfiguration({}, environment)).toEqual({
      kind: 'redis',
      namespace: 'jobs',
      database,
      redis,
    });
  });

  it('puts options above the environment', () => {
    const environment = {
      HOLDFAST_DATABASE_URL: 'postgres://elsewhere',
      HOLDFAST_REDIS_URL: 'memory:',
      HOLDFAST_NAMESPACE: 'jobs',
    };
    expect(resolveConfiguration({ database, redis, namespace: 'other' }, environment)).toEqual({
      kind: 'redis',
      namespace: 'other',
      database,
      redis,
    });
  });

  it('reads memory: as the table in this process', () => {
    expect(resolveConfiguration({ database, redis: 'memory:' }, {})).toEqual({
      kind: 'memory',
      namespace: 'holdfast',
      database,
    });
  });

  it('is embedded only on request, whatever the environment says', () => {
    const environment = {
      HOLDFAST_DATABASE_URL: database,
      HOLDFAST_REDIS_URL: redis,
      HOLDFAST_DATA_DIR: '/data',
    };
    expect(resolveConfiguration({ embedded: true }, environment)).toEqual({
      kind: 'embedded',
      namespace: 'holdfast',
      dataDir: '/data',
    });
    expect(resolveConfiguration({ embedded: true, dataDir: 'x' }, {})).toMatchObject({ dataDir: 'x' });
    expect(resolveConfiguration({ embedded: true }, {})).toMatchObject({ dataDir: '.holdfast' });
    expect(resolveConfiguration({ embedded: false }, environment)).toMatchObject({ kind: 'redis' });
  });

  it.each([
    [{}, {}, 'HOLDFAST_DATABASE_URL (option "database", --database-url) and HOLDFAST_REDIS_URL'],
    [{ database }, {}, 'Not set: HOLDFAST_REDIS_URL'],
    [{ redis }, {}, 'Not set: HOLDFAST_DATABASE_URL'],
    [{ redis }, { HOLDFAST_DATABASE_URL: '' }, 'Not set: HOLDFAST_DATABASE_URL'],
    [{ database: 'mysql://x', redis }, {}, 'must look like postgres://'],
    [{ database, redis, namespace: 'No' }, {}, 'namespace must match'],
    [{ database, redis, dataDir: 'x' }, {}, 'only with "embedded: true"'],
    [{ embedded: true, redis }, {}, 'leave out "redis"'],
    [{ embedded: true, dataDir: 5 as never }, {}, '"dataDir" must name a folder'],
    [{ embedded: true, dataDir: '' }, {}, 'must name a folder'],
  ])('refuses %o with %o', (options, environment, message) => {
    expect(() => resolveConfiguration(options, environment)).toThrow(NotConfigured);
    expect(() => resolveConfiguration(options, environment)).toThrow(message);
  });

  it('never repeats a URL, which may hold a password', () => {
    expect(() => resolveConfiguration({ database: 'mysql://u:secret@x', redis }, {})).not.toThrow(/secret/);
  });
});

describe('defaultWorkerName', () => {
  it('is the variable or the host name', () => {
    expect(defaultWorkerName({ HOLDFAST_WORKER_NAME: 'w' })).toBe('w');
    expect(defaultWorkerName({ HOLDFAST_WORKER_NAME: '' })).toBe(hostname());
  });
});

describe('a namespace', () => {
  const resolved = (namespace: unknown): unknown =>
    resolveConfiguration({ database, redis, namespace: namespace as string }, {}).namespace;

  it.each(['public', 'information_schema', 'pg_catalog', 'pg_', 'pg_temp_1', ['jobs'], 'Jobs', ''])(
    'is refused where it is %j',
    (namespace) => {
      expect(() => resolved(namespace)).toThrow(NotConfigured);
    },
  );

  it('that is reserved is told why', () => {
    expect(() => resolved('public')).toThrow('that all programs share');
    expect(() => resolved('pg_jobs')).toThrow('PostgreSQL keeps');
  });

  it.each(['publication', 'pgjobs', 'information', 'holdfast'])('may be %s', (namespace) => {
    expect(resolved(namespace)).toBe(namespace);
  });
});
