import { afterEach, beforeEach, expect, test } from 'vitest';
import { sharedRedisUrl } from '../../../test/helpers/servers.js';
import { silentLogger } from '../../log.js';
import { ada, epoch, hold, TableInEpoch } from '../conformance/harness.conformance.js';
import { Connection } from './connection.js';
import { epochKey } from './keys.js';
import { openRedis, type OpenRedisTable } from './open-redis.conformance.js';
import { ScriptRunner } from './script-runner.js';
import { inspectLocks } from './scripts/inspect-locks.js';
import { move } from './scripts/move.js';
import { release } from './scripts/release.js';
import { takeOut } from './scripts/take-out.js';
import { parseServerUrl } from './server-url.js';

let open: OpenRedisTable;
let current: TableInEpoch;
let connection: Connection;
let scripts: ScriptRunner;

beforeEach(async () => {
  open = await openRedis({ url: sharedRedisUrl() });
  current = await new TableInEpoch(open).begin();
  const address = parseServerUrl(sharedRedisUrl());
  const key = epochKey(open.namespace);
  connection = new Connection({ address, key, commandLimitMs: 10_000, log: silentLogger });
  await connection.connected();
  scripts = new ScriptRunner(connection, open.namespace);
});
afterEach(async () => {
  connection.close();
  await open.close();
});

const tasks = ['t1', 't2', 't3'];
const wide = (task: string): ReturnType<typeof hold> => {
  return hold(task, { shared: Array.from({ length: 300 }, (_, n) => `r${n}`) });
};
const owned = tasks.map((task) => ({ task, entry: 1, owner: ada }));

test('one release works off little more than 500 resources, the operation all', async () => {
  await current.enter(...tasks.map(wide));
  await current.claim(ada);
  expect(await scripts.run(release, epoch, { promotionLimit: 250, holds: owned })).toEqual([
    'released',
    'released',
  ]);
  expect(await open.table.release(epoch, owned)).toEqual(['gone', 'gone', 'released']);
  await current.expectSound();
});

test('one take-out works off little more than 500 resources, the operation all', async () => {
  await current.enter(...tasks.map(wide));
  const holds = tasks.map((task) => ({ task, entry: 1 }));
  expect(await scripts.run(takeOut, epoch, { promotionLimit: 250, pass: '0', holds })).toEqual([
    'taken-out',
    'taken-out',
  ]);
  expect(await open.table.takeOut(epoch, holds)).toEqual(['gone', 'gone', 'taken-out']);
  await current.expectSound();
});

test('one move ends little more than 500 resources of dying holds, the operation all', async () => {
  await current.enter(...tasks.map(wide));
  await current.claim(ada);
  for (const task of tasks) await open.forgeEntering(epoch, task);
  const moves = owned.map((one) => ({ ...one, nextEntry: 2 }));
  expect(await scripts.run(move, epoch, { promotionLimit: 250, moves })).toEqual(['gone', 'gone']);
  expect(await open.table.move(epoch, moves)).toEqual(['gone', 'gone', 'gone']);
  await current.expectSound();
});

test('one look shows little more than 1,000 holders and waiters, the operation all', async () => {
  const resources = ['r1', 'r2', 'r3'];
  for (const resource of resources) {
    const holds = Array.from({ length: 600 }, (_, n) => hold(`${resource}.${n}`, { shared: [resource] }));
    await current.enter(...holds);
  }
  expect(await scripts.run(inspectLocks, epoch, { resources, waitersEach: 1_000 })).toHaveLength(2);
  const views = await open.table.inspectLocks(epoch, resources, 1_000);
  expect(views.map(({ resource, holders }) => [resource, holders.length])).toEqual([
    ['r1', 600],
    ['r2', 600],
    ['r3', 600],
  ]);
});
