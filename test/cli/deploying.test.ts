import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createHoldfast } from '../../src/index.js';
import { assertJournal } from '../helpers/check-journal.js';
import { readJournal } from '../helpers/journal-file.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { startHoldfast, type Started } from './run-holdfast.js';

const taskFile = fileURLToPath(new URL('../scale/journal-tasks.mjs', import.meta.url));

const ready = (worker: Started): Promise<unknown> =>
  waitUntil(() => worker.stdout.includes('"ready"'), 'a worker is ready', 30_000);

// G5, and what a deploy must not cost: it runs again only what it cut short, once, and nothing is counted for that.
// Children are dear to start, so there are few.
test.concurrent.each([
  ['inline', 6],
  ['child', 1],
] as const)(
  'a deploy repeats only what did not finish within the grace, with handlers that run %s',
  { timeout: 90_000 },
  async (isolation, each) => {
    const atOnce = 2 * each;
    const namespace = uniqueNamespace();
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
    const [journal, short, long] = [join(folder, 'journal'), join(folder, 'short'), join(folder, 'long')];
    await Promise.all([journal, short, long].map((file) => writeFile(file, '')));
    const servers = { database: sharedPostgresUrl(), redis: sharedRedisUrl() };
    const hf = await createHoldfast({ ...servers, namespace, migrate: true });
    const startWorker = (name: string): Started =>
      startHoldfast(
        [
          ...['worker', '--tasks', taskFile, '--name', name, '--isolation', isolation],
          ...['--concurrency', String(atOnce), '--grace', '2s'],
        ],
        {
          env: {
            HOLDFAST_DATABASE_URL: servers.database,
            HOLDFAST_REDIS_URL: servers.redis,
            HOLDFAST_NAMESPACE: namespace,
            JOURNAL: journal,
          },
        },
      );
    const startsOf = (): string[] =>
      readJournal(journal).flatMap(({ kind, task }) => (kind === 'start' ? [task] : []));
    try {
      const old = startWorker('old');
      const work = (name: string, until: string): { name: string; payload: object; exclusive: string[] }[] =>
        Array.from({ length: each }, (_, n) => ({ name, payload: { until }, exclusive: [`${until} ${n}`] }));
      const dispatched = await hf.dispatchMany([
        ...work('journal.hold', short),
        ...work('journal.hold', long),
      ]);
      const behind = await hf.dispatchMany([...work('journal.work', short), ...work('journal.work', long)]);
      await waitUntil(() => startsOf().length === atOnce, 'all handlers run', 30_000);
      const next = startWorker('next');
      await ready(next);
      old.child.kill('SIGTERM');
      await waitUntil(() => old.stderr.includes('stops: '), 'the old worker says that it stops');
      await rm(short);
      expect(await old.ended).toMatchObject({ status: 0 });
      await waitUntil(() => startsOf().length >= atOnce + 2 * each, 'what was given back runs again', 20_000);
      await rm(long);
      const ids = [...dispatched, ...behind].map(({ id }) => id);
      const ended = await Promise.all(ids.map((id) => hf.wait(id, { timeout: '30s' })));
      const asOnce = {
        state: 'completed',
        entry: 1,
        attempt: 1,
        crashes: 0,
        runs: 1,
        history: ['completed'],
      };
      const asTwice = { ...asOnce, entry: 2, runs: 2, history: ['given-back', 'completed'] };
      const starts = startsOf();
      expect(
        ended.map(({ id, state, entry, attempt, crashes, attempts }) => ({
          ...{ state, entry, attempt, crashes, history: attempts.map(({ outcome }) => outcome) },
          runs: starts.filter((task) => task === id).length,
        })),
      ).toEqual([
        ...Array.from({ length: each }, () => asOnce),
        ...Array.from({ length: each }, () => asTwice),
        ...Array.from({ length: atOnce }, () => asOnce),
      ]);
      // What was cut short has written no end.
      assertJournal(journal, { unfinished: 'allowed' });
      next.child.kill('SIGTERM');
      expect(await next.ended).toMatchObject({ status: 0 });
      expect((await hf.locks.list()).locks).toEqual([]);
      expect((await hf.workers.list()).workers).toEqual([]);
    } finally {
      await hf.close();
      await dropNamespace(namespace);
      await rm(folder, { recursive: true });
    }
  },
);
