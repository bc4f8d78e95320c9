import { describe, expect, test } from 'vitest';
import { createHoldfast, defineTask } from 'holdfast';
import type { Started } from '../cli/run-holdfast.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';

const graceMs = 1_000;
/** With one second for a machine that is busy with others as well. */
const limitMs = graceMs + 5_000 + 1_000;
const args = ['--grace', `${graceMs}ms`, '--concurrency', '5'];
/** Long, so that it is not the fence that ends them. */
const longTtl = ['--ttl', '60s'];

/** Both stores refuse connections, or keep the ones there are and every new one, and say nothing. */
const ways = ['stopped', 'silent'] as const;

async function takeStores({ database, redis }: OutagePlace, how: (typeof ways)[number]): Promise<void> {
  if (how === 'stopped') await Promise.all([database.refuse(), redis?.refuse()]);
  else for (const proxy of [database, redis]) proxy?.silence();
}

/** The stores are back: what was left is swept, and ends by its policy. */
async function othersEndIt(place: OutagePlace, how: (typeof ways)[number]): Promise<void> {
  const { database, redis, sql, openGate, worker, end } = place;
  if (how === 'stopped') await Promise.all([database.accept(), redis?.accept()]);
  else for (const proxy of [database, redis]) proxy?.heal();
  openGate();
  // It was long only so that no fence ends them.
  await sql('UPDATE ns.workers SET ttl_ms = 1000');
  await worker(['--ttl', '1s']);
  await end({ unfinished: 'allowed' });
}

async function dispatchHolding(place: OutagePlace, names: string[]): Promise<void> {
  await place.hf.dispatchMany(
    names.map((name) => ({ name, payload: { until: place.gate }, exclusive: [name] })),
  );
  const allRun = async (): Promise<boolean> => {
    const { tasks } = await place.hf.tasks.list({ state: ['running'] });
    return tasks.filter(({ progress }) => progress.length > 0).length === names.length;
  };
  await waitUntil(allRun, 'all handlers run', 30_000);
}

/** Resolves with its exit status, once it has ended within the limit. */
async function endsInTime({ child, ended }: Started, name: string): Promise<number | null> {
  const asked = performance.now();
  child.kill('SIGTERM');
  const { status } = await ended;
  const tookMs = Math.round(performance.now() - asked);
  console.log(`${name} ended ${tookMs} ms after SIGTERM, with status ${status}`);
  expect(tookMs).toBeLessThan(limitMs);
  return status;
}

describe.concurrent.each(ways)('with both stores %s', (how) => {
  test('a worker that is told to stop ends within its grace and 5 s, and says what is left', async (context) => {
    const place = await outagePlace(context);
    const worker = await place.worker([...args, ...longTtl]);
    await dispatchHolding(place, ['holds', 'holds in a child', 'ignores SIGTERM in a child']);
    await takeStores(place, how);
    expect(await endsInTime(worker, 'worker')).toBe(3);
    expect(worker.stderr).toMatch(/"givingBack":3.*not everything could be written/);
    expect(worker.stderr).not.toMatch(/[Uu]nhandled/);
    await othersEndIt(place, how);
  });

  test('so does serve with its workers', async (context) => {
    const place = await outagePlace(context);
    const service = place.start('serve', [...args, ...longTtl, '--workers', '2']);
    await waitUntil(() => service.stdout.includes('"ready":true'), 'the service claims', 60_000);
    await dispatchHolding(place, ['holds', 'holds in a child']);
    await takeStores(place, how);
    expect(await endsInTime(service, 'serve')).toBe(1);
    expect(service.stderr).toContain('not everything could be written');
    await othersEndIt(place, how);
  });
});

describe.concurrent('in one way each', () => {
  test('with both stores silent, serve ends as soon though one of its workers is frozen', async (context) => {
    const place = await outagePlace(context);
    const service = place.start('serve', [...args, ...longTtl, '--workers', '2']);
    const ready = await waitUntil(
      () => /^\{"ready":true.*\}$/m.exec(service.stdout)?.[0],
      'the service claims',
      60_000,
    );
    const { workers } = JSON.parse(ready) as { workers: { pid: number }[] };
    await takeStores(place, 'silent');
    process.kill(workers[0]?.pid ?? 0, 'SIGSTOP');
    expect(await endsInTime(service, 'serve')).toBe(1);
    await othersEndIt(place, 'silent');
  });

  test('with both stores stopped, a worker whose handler does not heed its signal ends as soon', async (context) => {
    const place = await outagePlace(context);
    const worker = await place.worker([...args, ...longTtl]);
    await dispatchHolding(place, ['ignores its signal']);
    await takeStores(place, 'stopped');
    expect(await endsInTime(worker, 'worker')).toBe(1);
    expect(worker.stderr).toContain('ends with handlers that do not heed their signals');
    await othersEndIt(place, 'stopped');
  });

  test('with both stores silent, so does a worker in a process, and closing', async (context) => {
    const place = await outagePlace(context);
    const holds = defineTask({
      name: 'holds',
      run: async (_, { signal, progress }) => {
        progress('runs');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        signal.throwIfAborted();
      },
    });
    const hf = await createHoldfast({
      ...{ database: place.database.url, redis: place.redis?.url ?? '', namespace: place.namespace },
      tasks: [holds],
    });
    const worker = hf.createWorker({ name: 'w', grace: graceMs, ttl: '60s' });
    const ended = worker.run().then(
      () => null,
      (error: unknown) => error,
    );
    await dispatchHolding(place, ['holds']);
    await takeStores(place, 'silent');
    const asked = performance.now();
    await worker.stop();
    expect(performance.now() - asked).toBeLessThan(limitMs);
    expect(await ended).toMatchObject({ code: 'Unavailable' });
    const closed = performance.now();
    await hf.close();
    expect(performance.now() - closed).toBeLessThan(5_000);
    await othersEndIt(place, 'silent');
  });
});

describe.concurrent('with stores that were silent from the start', () => {
  test.for(['worker', 'serve'] as const)('a %s that is told to stop ends', async (command, context) => {
    const place = await outagePlace(context);
    await takeStores(place, 'silent');
    const more = command === 'serve' ? ['--workers', '1'] : [];
    const process = place.start(command, [...args, ...more]);
    await waitUntil(() => place.database.connections > 0, 'it connects', 60_000);
    expect(await endsInTime(process, command)).toBe(3);
    expect(process.stderr).toMatch(/told to stop before/i);
  });
});
