import { expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace } from './helpers/outage-place.js';
import { restartablePostgres } from './helpers/restartable-postgres.js';

test('a promoted standby is another timeline: a new epoch is opened, and workers fence themselves', async (context) => {
  const primary = await restartablePostgres({ wal_level: 'replica', hot_standby: 'on' });
  context.onTestFinished(() => primary.remove());
  await primary.start();
  const place = await outagePlace(context, { direct: { database: primary.url } });
  const standby = await primary.standby();
  context.onTestFinished(() => standby.remove());
  await standby.start();
  const rows = await place.sql(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  expect(rows).toEqual([]);
  await place.sql('SELECT pg_reload_conf()');
  const follows = async (): Promise<boolean> =>
    (await place.sql<{ sync_state: string }>('SELECT sync_state FROM pg_stat_replication'))[0]?.sync_state ===
    'sync';
  await waitUntil(follows, 'the standby follows', 20_000);

  // A long TTL: it is the timeline that fences them, and not the time in which there is no server.
  const service = place.start('serve', ['--workers', '2', '--ttl', '12s', '--concurrency', '10']);
  await waitUntil(() => service.stdout.includes('"ready":true'), 'the service claims', 60_000);
  const held = await place.hf.dispatchMany(
    ['holds', 'holds', 'holds in a child'].map((name, n) => ({
      ...{ name, payload: { until: place.gate }, exclusive: [`r${n}`] },
    })),
  );
  await place.hf.dispatchMany(
    Array.from({ length: 30 }, (_, n) => ({ name: 'work', payload: { ms: 5 }, exclusive: [`r${n % 3}`] })),
  );
  const allBegun = async (): Promise<boolean> => {
    const tasks = await Promise.all(held.map(({ id }) => place.hf.tasks.get(id)));
    return tasks.every(({ progress }) => progress.length > 0);
  };
  await waitUntil(allBegun, 'three handlers run', 30_000);
  const [before] = await place.sql<{ epoch: string }>('SELECT epoch FROM ns.namespace');

  await primary.kill();
  place.leadTo(standby.url);
  await place.sql('SELECT pg_promote()');
  await waitUntil(() => /another one now/.test(service.stderr), 'a worker fences itself', 12_000);
  place.openGate();
  const canary = await place.hf.dispatch('work', {});
  await place.hf.wait(canary.id, { timeout: '60s' });
  const [after] = await place.sql<{ epoch: string; timeline: string }>(
    'SELECT epoch, timeline FROM ns.namespace',
  );
  expect(after?.timeline).toBe('00000002');
  expect(Number(after?.epoch)).toBeGreaterThan(Number(before?.epoch));
  await place.end({ unfinished: 'allowed' });
  for (const { id } of held) {
    expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', attempt: 1, crashes: 0 });
  }
});
