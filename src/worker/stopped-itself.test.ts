import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Place } from '../../test/worker/place.js';
import { startProxy, type TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace } from '../../test/worker/place.js';
import { sweep } from '../../test/worker/sweep.js';
import { inState, startWorker, type TestWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';

let place: Place;
let proxy: TcpProxy;
let runs: number;

beforeEach(async () => {
  place = await serverPlace();
  proxy = await startProxy(sharedPostgresUrl());
  runs = 0;
  const run = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
    runs += 1;
    if (runs > 1) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    signal.throwIfAborted();
  };
  place.definitions.set('job', defineTask({ name: 'job', resources: () => ({ exclusive: ['r'] }), run }));
});
afterEach(async () => {
  await place.close();
  await proxy.stop();
});

async function saidStopped({ owner }: TestWorker): Promise<boolean> {
  const text = `SELECT stopped_itself AS said FROM "${place.namespace}".workers WHERE incarnation = $1`;
  const { rows } = await place.database.query<{ said: boolean }>(text, [owner.incarnation]);
  return rows[0]?.said ?? false;
}

/** A worker that runs a task and cannot beat any more, until its time has passed; then the network is as it was. */
async function cutOff(): Promise<{ worker: TestWorker; id: string }> {
  const fenced = latch();
  const { namespace } = place;
  const worker = await startWorker(place, {
    ttlMs: 1_500,
    beater: { kind: 'postgres', connection: proxy.url, namespace },
    onFenced: () => fenced.open(),
  });
  const { id } = await place.dispatcher.dispatch('job');
  await inState(place, id, 'running');
  proxy.silence();
  await fenced.opened;
  return { worker, id };
}

test('what a worker ran that fenced itself goes on with its successor, and nothing is counted', async () => {
  const { worker, id } = await cutOff();
  proxy.heal();
  await waitUntil(() => saidStopped(worker), 'its row tells that it has stopped itself');
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  await startWorker(place, { soleName: true });
  const row = await inState(place, id, 'completed');
  expect(row).toMatchObject({ entry: 2, attempt: 1, crashes: 0 });
  expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['given-back', 'completed']);
  expect(runs).toBe(2);
});

test('what it ran counts as lost where it could not say so before it was declared dead', async () => {
  const { worker, id } = await cutOff();
  await place.store.reapWorker(worker.owner.incarnation);
  proxy.heal();
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(await saidStopped(worker)).toBe(false);
  await sweep(place, worker.owner);
  expect(await inState(place, id, 'failed')).toMatchObject({ crashes: 1, error: { code: 'WorkerLost' } });
});

test('a worker that cannot be reached any more ends all the same, soon', async () => {
  const { worker } = await cutOff();
  const started = performance.now();
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(performance.now() - started).toBeLessThan(4_000);
  expect(await saidStopped(worker)).toBe(false);
});

test('a worker whose row cannot be removed when it stops in order says that it has not crashed', async () => {
  const store = overriding(place.store, { removeWorker: () => Promise.reject(new Error('away')) });
  const worker = await startWorker(place, { store });
  await worker.stop();
  expect(await saidStopped(worker)).toBe(true);
});
