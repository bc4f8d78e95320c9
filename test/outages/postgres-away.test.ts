import { setTimeout as delay } from 'node:timers/promises';
import { createHoldfast, defineTask, type Holdfast, type TaskSummary } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';
import { restartablePostgres, type RestartablePostgres } from './helpers/restartable-postgres.js';

const ttlMs = 2_000;
const ttl = `${ttlMs}ms`;
let postgres: RestartablePostgres;

beforeAll(async () => {
  postgres = await restartablePostgres();
  await postgres.start();
});
afterAll(() => postgres.remove());

async function allTasks(hf: Holdfast): Promise<TaskSummary[]> {
  return (await hf.tasks.list({ limit: 1_000 })).tasks;
}

async function allBegin({ hf }: OutagePlace, howMany: number, withEntry = 1): Promise<void> {
  const runs = ({ state, entry, progress }: TaskSummary): boolean =>
    state === 'running' && entry === withEntry && progress.length > 0;
  const begun = async (): Promise<boolean> => (await allTasks(hf)).filter(runs).length === howMany;
  await waitUntil(begun, `${howMany} handlers run`, 60_000);
}

async function placesOf({ sql }: OutagePlace): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; place: string }>('SELECT id, place::text FROM ns.tasks');
  return new Map(rows.map(({ id, place }) => [id, place]));
}

test('stopped for three TTLs with 50 running tasks: they stop, come back at their places, and nothing is counted', async (context) => {
  const place = await outagePlace(context, { direct: { database: postgres.url } });
  const service = place.start('serve', ['--workers', '2', '--ttl', ttl, '--concurrency', '25']);
  const payload = { until: place.gate, order: '0' };
  const names = Array.from({ length: 50 }, (_, n) => (n % 10 === 0 ? 'holds in a child' : 'holds'));
  const running = await place.hf.dispatchMany(
    names.map((name, n) => ({ name, payload, exclusive: [`r${n}`] })),
  );
  const behind = await place.hf.dispatchMany(
    names.map((_, n) => ({ name: 'work', payload: { order: '1' }, exclusive: [`r${n}`] })),
  );
  await allBegin(place, 50);
  const places = await placesOf(place);
  await postgres.stop();
  await delay(3 * ttlMs);
  await postgres.start();
  await allBegin(place, 50, 2);
  expect(await placesOf(place)).toEqual(places);
  const again = new Map((await allTasks(place.hf)).map((task) => [task.id, task]));
  expect(running.map(({ id }) => again.get(id)?.state)).toEqual(names.map(() => 'running'));
  place.openGate();
  await place.end({ unfinished: 'allowed' });
  const tasks = new Map((await allTasks(place.hf)).map((task) => [task.id, task]));
  for (const { id } of running) {
    expect(tasks.get(id)).toMatchObject({ state: 'completed', entry: 2, attempt: 1, crashes: 0 });
  }
  for (const { id } of behind) {
    expect(tasks.get(id)).toMatchObject({ state: 'completed', attempt: 1, crashes: 0 });
  }
  expect(service.stderr).not.toMatch(/[Uu]nhandled|uncaught/);
});

test('a worker in a process comes back as another incarnation, once no handler of the old one is left', async (context) => {
  const place = await outagePlace(context, { direct: { database: postgres.url } });
  const incarnations: string[] = [];
  const told: { handlers: number }[] = [];
  let runs = 0;
  let left = 0;
  let mostAtOnce = 0;
  let letEnd = (): void => {};
  const lingers = new Promise<void>((resolve) => (letEnd = resolve));
  const holds = defineTask({
    name: 'holds',
    resources: () => ({ exclusive: ['r'] }),
    run: async (_, { signal, progress }) => {
      mostAtOnce = Math.max(mostAtOnce, ++left);
      progress('runs');
      if (++runs === 1) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await lingers;
      }
      left -= 1;
      return runs;
    },
  });
  const urls = { database: place.database.url, redis: place.redis?.url ?? '' };
  const hf = await createHoldfast({ ...urls, namespace: place.namespace, tasks: [holds] });
  const worker = hf.createWorker({ name: 'w', ttl });
  worker.on('ready', ({ incarnation }) => incarnations.push(incarnation));
  worker.on('fenced', (fencing) => told.push(fencing));
  const ended = worker.run();
  const { id } = await hf.dispatch(holds, null);
  await allBegin(place, 1);
  await postgres.stop();
  await waitUntil(() => told.length === 1, 'it is fenced');
  await postgres.start();
  expect(told).toMatchObject([{ handlers: 1 }]);
  await delay(ttlMs);
  expect(incarnations).toHaveLength(1);
  letEnd();
  await waitUntil(() => incarnations.length === 2, 'it comes back', 30_000);
  // Long before anybody could take the old one for dead: this process knows that it is.
  const rows = await place.sql<{ incarnation: string }>(
    `SELECT incarnation::text FROM ns.workers WHERE kind = 'worker'`,
  );
  expect(rows.map(({ incarnation }) => incarnation)).toEqual([incarnations[1]]);
  expect(await hf.wait(id, { timeout: '30s' })).toMatchObject({ state: 'completed', result: 2 });
  expect(await hf.tasks.get(id)).toMatchObject({ attempt: 1, crashes: 0 });
  expect(mostAtOnce).toBe(1);
  await hf.close();
  await ended;
  await place.end();
});

test('restarted again and again under load, no task waits for long and none is lost', async (context) => {
  const place = await outagePlace(context, { direct: { database: postgres.url } });
  const service = place.start('serve', ['--workers', '2', '--ttl', '4s', '--concurrency', '10']);
  await waitUntil(() => service.stdout.includes('"ready":true'), 'the service claims', 60_000);
  const waits: number[] = [];
  for (let restart = 0; restart < Number(process.env['OUTAGES_RESTARTS'] ?? 4); restart++) {
    await place.hf.dispatchMany(
      Array.from({ length: 100 }, (_, n) => ({
        name: n % 20 === 0 ? 'holds in a child' : 'work',
        payload: n % 20 === 0 ? { until: `${place.gate}-none` } : { ms: 20 },
        exclusive: [`r${n % 10}`],
      })),
    );
    await (restart % 2 === 0 ? postgres.stop() : postgres.kill());
    await postgres.start();
    const back = performance.now();
    const canary = await waitUntil(() => place.hf.dispatch('work', {}), 'a canary is dispatched', 20_000);
    await place.hf.wait(canary.id, { timeout: '60s' });
    waits.push(Math.round(performance.now() - back));
  }
  console.log(`after each restart of PostgreSQL a canary ended within ${waits.join(', ')} ms`);
  expect(Math.max(...waits)).toBeLessThan(30_000);
  await place.end({ unfinished: 'allowed' });
  const tasks = await allTasks(place.hf);
  expect(tasks.filter(({ state }) => state !== 'completed')).toEqual([]);
  expect(service.stderr).not.toMatch(/[Uu]nhandled|uncaught/);
});
