import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Holdfast, Task } from '../../src/index.js';
import type { Database } from '../../src/store/database.js';
import type { Migration } from '../../src/store/migration-files.js';
import type { Ended, Started } from '../cli/run-holdfast.js';
import { createHoldfast } from '../../src/index.js';
import { migrate } from '../../src/store/migrate.js';
import { migrationFiles } from '../../src/store/migration-files.js';
import { createPostgresDatabase } from '../../src/store/postgres-database.js';
import { startHoldfast } from '../cli/run-holdfast.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { installPrevious, projectRoot } from '../helpers/installed-package.js';
import { assertJournal } from '../helpers/journal.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';

vi.setConfig({ testTimeout: 180_000 });

type Build = 'previous' | 'current';

const tasksEach = 200;
const hotResources = 6;

/** As the next version may bring it: both builds must work with what it adds. */
const adds: Migration = {
  name: '9998-adds.sql',
  text: `
    ALTER TABLE holdfast.tasks ADD COLUMN added text NOT NULL DEFAULT 'added';
    ALTER TABLE holdfast.workers ADD COLUMN added integer;`,
  checksum: 'adds',
  contracts: false,
};
const takesAway: Migration = {
  name: '9999-takes-away.sql',
  text: 'SELECT 1',
  checksum: 'x',
  contracts: true,
};

let previous: ReturnType<typeof installPrevious>;
let namespace: string;
let database: Database;
let journal: string;

beforeAll(() => {
  previous = installPrevious();
  copyFileSync(join(projectRoot, 'test/upgrade/tasks.mjs'), join(previous.dir, 'tasks.mjs'));
});
afterAll(() => previous.remove());
beforeEach(() => {
  namespace = uniqueNamespace();
  journal = join(previous.dir, `${namespace}.journal`);
  database = createPostgresDatabase({ connection: sharedPostgresUrl() });
});
afterEach(async () => {
  await database.close();
  await dropNamespace(namespace);
});

function start(build: Build, args: string[], stdin = ''): Started {
  const env = {
    ...{ HOLDFAST_DATABASE_URL: sharedPostgresUrl(), HOLDFAST_REDIS_URL: sharedRedisUrl() },
    ...{ HOLDFAST_NAMESPACE: namespace, JOURNAL: journal, BUILD: build },
  };
  const main = join(previous.dir, 'node_modules/holdfast/dist/cli/main.js');
  return startHoldfast(args, { env, stdin, ...(build === 'previous' && { main }) });
}

async function done(build: Build, args: string[], stdin?: string): Promise<Ended> {
  const ended = await start(build, args, stdin).ended;
  expect(ended).toMatchObject({ status: 0 });
  return ended;
}

async function startWorker(build: Build, name: string): Promise<Started> {
  const folder = build === 'previous' ? previous.dir : join(projectRoot, 'test/upgrade');
  const limits = ['--ttl', '3s', '--concurrency', '4'];
  const worker = start(build, ['worker', '--tasks', join(folder, 'tasks.mjs'), '--name', name, ...limits]);
  await waitUntil(
    () => worker.stdout.includes('"ready":true'),
    `${name} of the ${build} build claims`,
    60_000,
  );
  return worker;
}

async function kill(worker: Started): Promise<void> {
  worker.child.kill('SIGKILL');
  await worker.ended;
}

async function stop(worker: Started): Promise<void> {
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ status: 0 });
}

/** Those of one build after those of the other: on few resources, exclusive and shared. */
async function dispatchMany(build: Build): Promise<void> {
  const lines = Array.from({ length: tasksEach }, (_, n) => {
    const hot = [`R${n % hotResources}`];
    const order = String(n + (build === 'current' ? tasksEach : 0));
    return { name: 'work', payload: { order }, ...(n % 3 === 0 ? { shared: hot } : { exclusive: hot }) };
  });
  await done(build, ['dispatch', '--batch', '-'], lines.map((line) => JSON.stringify(line)).join('\n'));
}

async function inState(hf: Holdfast, state: Task['state']): Promise<number> {
  return (await hf.tasks.list({ state: [state], limit: 1_000 })).tasks.length;
}

test('a fleet is upgraded, and a part of it downgraded, under load and through crashes', async () => {
  await done('previous', ['migrate']);
  const [a, b] = await Promise.all([startWorker('previous', 'a'), startWorker('previous', 'b')]);
  await dispatchMany('previous');

  await migrate(database, namespace, [...migrationFiles(), adds]);
  const hf = await createHoldfast({ database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace });
  try {
    const c = await startWorker('current', 'c');
    await dispatchMany('current');
    await waitUntil(async () => (await inState(hf, 'running')) > 0, 'tasks run');
    // Each build cleans up after the other, under the same name and under another.
    await kill(a);
    const newA = await startWorker('current', 'a');
    await kill(c);
    const oldC = await startWorker('previous', 'c');
    await kill(newA);
    await stop(b);
    const newB = await startWorker('current', 'b');
    const all = 2 * tasksEach;
    await waitUntil(async () => (await inState(hf, 'completed')) === all, 'all tasks are completed', 120_000);
    await stop(oldC);
    await waitUntil(async () => (await hf.workers.list()).workers.length === 1, 'the dead are gone', 30_000);
    await stop(newB);
  } finally {
    await hf.close();
  }
  await assertNothingLeft({ namespace, databaseUrl: sharedPostgresUrl(), redisUrl: sharedRedisUrl() });
  assertJournal(journal, { unfinished: 'allowed' });
  const ranBy = new Set(readFileSync(journal, 'utf8').match(/"build":"\w+"/g));
  expect([...ranBy].sort()).toEqual(['"build":"current"', '"build":"previous"']);
});

test('a build to which the schema lacks something by now is refused', async () => {
  await migrate(database, namespace, [...migrationFiles(), takesAway]);
  const { status, stderr } = await start('previous', ['tasks', 'list']).ended;
  expect(status).toBe(1);
  expect(stderr).toContain('WrongSchema');
  expect(stderr).toContain(takesAway.name);
});
