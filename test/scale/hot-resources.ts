import { createHoldfast } from 'holdfast';
import { expect } from 'vitest';
import { assertJournal } from '../helpers/check-journal.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { startWorkerProcess } from './worker-processes.js';

const hotResources = 50;

/**
 * So many tasks over 50 hot resources on 3 worker processes. Throws unless all of them complete, no two that conflict
 * ever ran at one time, each resource was served in order, and nothing is left.
 */
export async function runOnHotResources(tasks: number): Promise<void> {
  const namespace = uniqueNamespace();
  const dir = temporaryFolder('scale');
  const journal = `${dir}/journal`;
  const urls = { database: sharedPostgresUrl(), redis: sharedRedisUrl() };
  const env = {
    HOLDFAST_DATABASE_URL: urls.database,
    HOLDFAST_REDIS_URL: urls.redis,
    HOLDFAST_NAMESPACE: namespace,
    JOURNAL: journal,
  };
  const hf = await createHoldfast({ ...urls, namespace, migrate: true });
  const workers = await Promise.all(
    ['a', 'b', 'c'].map((name) => startWorkerProcess(env, ['--name', name, '--concurrency', '50'])),
  );
  try {
    const dispatched = await hf.dispatchMany(randomTasks(tasks));
    await Promise.all(dispatched.map((task) => hf.wait(task.id, { timeout: '9m' })));
    expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual([0, 0, 0]);

    const report = assertJournal(journal);
    expect(report.runs).toBe(tasks);
    expect(report.mostAtOnce).toBeGreaterThan(1);
    await assertNothingLeft({ redisUrl: urls.redis, databaseUrl: urls.database, namespace });
  } finally {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await hf.close();
    await dropNamespace(namespace);
    removeFolder(dir);
  }
}

/** One to three resources each, a third of the uses exclusive, by a generator with a fixed seed. */
function randomTasks(
  count: number,
): { name: string; payload: unknown; exclusive: string[]; shared: string[] }[] {
  let seed = 20_000;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  return Array.from({ length: count }, (_, order) => {
    const exclusive = new Set<string>();
    const shared = new Set<string>();
    for (let use = 0; use <= random(3); use++) {
      const resource = `hot:${random(hotResources)}`;
      if (random(3) === 0) exclusive.add(resource);
      else shared.add(resource);
    }
    for (const resource of exclusive) shared.delete(resource);
    return {
      name: 'journal.work',
      payload: { order: String(order) },
      exclusive: [...exclusive],
      shared: [...shared],
    };
  });
}
