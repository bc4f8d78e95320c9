import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { NotConfigured } from '../errors.js';
import { demoSetting } from './demo-setting.js';

const database = 'postgres://db';
const redis = 'redis://r';

it('is embedded in a temporary folder when nothing is given', async () => {
  const setting = await demoSetting({}, {});
  expect(setting).toMatchObject({ mode: 'embedded', workerProcesses: false, temporary: true });
  expect(dirname(setting.mirror)).toBe(dirname(setting.dataDir ?? ''));
  await setting.remove();
  expect(existsSync(dirname(setting.mirror))).toBe(false);
});

it('keeps a data folder that it was given, and removes the mirror in it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const setting = await demoSetting({}, { HOLDFAST_DATA_DIR: dataDir });
  expect(setting).toMatchObject({ mode: 'embedded', dataDir, temporary: false });
  await mkdir(setting.mirror);
  await setting.remove();
  expect(await readdir(dataDir)).toEqual([]);
  await rm(dataDir, { recursive: true });
});

it('takes a data folder on the command line for the wish to run embedded, whatever the environment has', async () => {
  const environment = { HOLDFAST_DATABASE_URL: database, HOLDFAST_REDIS_URL: redis };
  const setting = await demoSetting({ dataDir: 'd' }, environment);
  expect(setting).toMatchObject({ mode: 'embedded', dataDir: resolve('d') });
  const temporary = await demoSetting({ embedded: true }, environment);
  expect(temporary).toMatchObject({ mode: 'embedded', temporary: true });
  await temporary.remove();
});

it('runs on servers with worker processes, or with the worker inside where the table is in memory', async () => {
  const servers = await demoSetting({ databaseUrl: database }, { HOLDFAST_REDIS_URL: redis });
  expect(servers).toMatchObject({ mode: 'servers', workerProcesses: true, dataDir: null });
  expect(servers.namespace).toBe('holdfast_demo');
  await servers.remove();
  const memory = await demoSetting({ databaseUrl: database, redisUrl: 'memory:' }, {});
  expect(memory).toMatchObject({ mode: 'memory', workerProcesses: false });
  await memory.remove();
});

it('takes the namespace that it was given, on servers and embedded', async () => {
  const environment = {
    HOLDFAST_DATABASE_URL: database,
    HOLDFAST_REDIS_URL: redis,
    HOLDFAST_NAMESPACE: 'env',
  };
  for (const [global, namespace] of [
    [{}, 'env'],
    [{ namespace: 'flag' }, 'flag'],
    [{ embedded: true }, 'env'],
  ] as const) {
    const setting = await demoSetting(global, environment);
    expect(setting.namespace).toBe(namespace);
    await setting.remove().catch(() => {});
  }
});

it('with crashes, has a namespace for them alone, and refuses a lock table that dies with its process', async () => {
  const servers = await demoSetting({ databaseUrl: database, redisUrl: redis }, {}, true);
  expect(servers.namespace).toBe('holdfast_demo_crash');
  await servers.remove();
  const memory = demoSetting({ databaseUrl: database, redisUrl: 'memory:' }, {}, true);
  await expect(memory).rejects.toThrow(NotConfigured);
});

it('refuses one URL without the other', async () => {
  await expect(demoSetting({ databaseUrl: database }, {})).rejects.toThrow(NotConfigured);
  await expect(demoSetting({}, { HOLDFAST_REDIS_URL: redis })).rejects.toThrow('the database URL is missing');
});
