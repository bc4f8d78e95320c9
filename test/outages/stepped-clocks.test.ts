import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPostgres } from '../helpers/postgres-server.js';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';
import { stepRedisClock } from './helpers/step-redis-clock.js';

/** Of Debian's package libfaketime, which comes with the program faketime. */
function libfaketime(): string {
  const root = '/usr/lib';
  const folders = readdirSync(root).map((name) => join(root, name, 'faketime/libfaketimeMT.so.1'));
  const found = folders.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`There is no libfaketimeMT.so.1 in ${folders.join(', ')}.`);
  return found;
}

const library = libfaketime();
/** Each has a slot to spare, whoever has taken the others. */
const ttl = ['--ttl', '2s', '--concurrency', '10'];

async function timeOfWorker({ hf }: OutagePlace): Promise<number> {
  const { id } = await hf.dispatch('tells the time', null, { queue: 'of a' });
  return Number((await hf.wait(id, { timeout: '15s' })).result);
}

async function timeOfPostgres({ sql }: OutagePlace): Promise<number> {
  const [row] = await sql<{ ms: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  return row?.ms ?? NaN;
}

test.each([
  ['a worker', 'worker'],
  ['PostgreSQL', 'postgres'],
  ['Redis', 'redis'],
] as const)('the clock of %s steps by ten minutes, to and fro: nobody notices', async (_, whose) => {
  const ends: (() => unknown)[] = [];
  const dir = temporaryFolder('clock');
  // PostgreSQL runs as another user.
  chmodSync(dir, 0o711);
  const clock = join(dir, 'clock');
  const stepTo = (offset: string): void => writeFileSync(clock, offset);
  stepTo('+0');
  const env = {
    ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' },
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const postgres = whose === 'postgres' ? await startPostgres({ env }) : null;
  const direct = { ...(postgres && { database: postgres.url }) };
  const place = await outagePlace(
    { onTestFinished: (end) => void ends.push(end as () => unknown) },
    { direct },
  );
  try {
    const queues = ['--queue', 'default', '--queue', 'of a'];
    const stepped = await place.worker([...ttl, '--name', 'a', ...queues], whose === 'worker' ? env : {});
    const other = await place.worker([...ttl, '--name', 'b']);
    const held = await place.hf.dispatchMany(
      Array.from({ length: 8 }, (_, n) => ({
        ...{ name: n < 2 ? 'holds in a child' : 'holds', payload: { until: place.gate } },
        exclusive: [`r${n}`],
      })),
    );
    const running = async (): Promise<boolean> =>
      (await place.hf.tasks.list({ state: 'running' })).tasks.filter(({ progress }) => progress.length > 0)
        .length === held.length;
    await waitUntil(running, 'they run', 30_000);
    for (const [step, offset] of ['+600', '-600', '+0'].entries()) {
      stepTo(offset);
      if (whose === 'redis') {
        const milliseconds = [600_000, -1_200_000, 600_000][step] ?? 0;
        const shifted = await stepRedisClock(place.direct.redis, place.namespace, milliseconds);
        expect(shifted).toBeGreaterThanOrEqual(3 * held.length);
      }
      const told = { worker: timeOfWorker, postgres: timeOfPostgres, redis: null }[whose];
      const ahead = told === null ? null : ((await told(place)) - Date.now()) / 1_000;
      if (ahead !== null) expect(Math.abs(ahead - Number(offset))).toBeLessThan(30);
      const { id } = await place.hf.dispatch('work', {}, { exclusive: ['r-free'] });
      await place.hf.wait(id, { timeout: '15s' });
      // More than a TTL, in which nobody may take anybody for dead.
      await delay(2_500);
    }
    for (const { child, stderr } of [stepped, other]) {
      expect(child.exitCode).toBeNull();
      expect(stderr).not.toMatch(/fenced|gone missing|[Uu]nhandled/);
    }
    place.openGate();
    await place.end();
    for (const { id } of held) {
      expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', entry: 1, crashes: 0 });
    }
  } finally {
    for (const end of ends) await end();
    await postgres?.stop();
    removeFolder(dir);
  }
});
