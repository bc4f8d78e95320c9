import { setTimeout as delay } from 'node:timers/promises';
import { createHoldfast, defineTask } from 'holdfast';
import { expect, test } from 'vitest';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../../helpers/servers.js';
import { waitUntil } from '../../helpers/wait-until.js';

const tasks = 500;

test('99 of 100 running tasks hear within 500 ms that they are canceled', async () => {
  const namespace = uniqueNamespace();
  const urls = { database: sharedPostgresUrl(), redis: sharedRedisUrl() };
  const heard = new Map<string, number>();
  const listens = defineTask({
    name: 'listens',
    run: async (_payload, { task, signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      heard.set(task.id, performance.now());
    },
  });
  const hf = await createHoldfast({ ...urls, namespace, migrate: true, tasks: [listens] });
  // Another process would cancel through a table of its own: so does this.
  const canceler = await createHoldfast({ ...urls, namespace });
  const worker = hf.createWorker({ concurrency: 20 });
  const running = worker.run();
  try {
    const dispatched = await hf.dispatchMany(
      Array.from({ length: tasks }, () => ({ task: listens, payload: null })),
    );
    const latencies: number[] = [];
    for (const { id } of dispatched) {
      await waitUntil(async () => (await hf.tasks.get(id)).state === 'running', 'it runs');
      await delay(Math.random() * 20);
      const asked = performance.now();
      await canceler.tasks.cancel(id);
      const at = await waitUntil(() => heard.get(id), 'its signal aborts');
      latencies.push(at - asked);
    }
    latencies.sort((a, b) => a - b);
    const [median, p99, worst] = [0.5, 0.99, 1].map(
      (part) => latencies[Math.ceil(part * tasks) - 1] ?? Infinity,
    );
    console.log({ median, p99, worst });
    expect(p99).toBeLessThan(500);
  } finally {
    await worker.stop();
    await running;
    await Promise.all([hf.close(), canceler.close()]);
    await dropNamespace(namespace);
  }
}, 120_000);
