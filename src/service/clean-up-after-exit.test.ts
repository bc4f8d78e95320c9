import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Owner } from '../owner.js';
import type { Recovery } from '../recovery/recovery.js';
import type { Place } from '../../test/worker/place.js';
import { DeathScene, registerOwner, rowsLeft, runningJobs } from '../../test/worker/dead-worker.js';
import { overriding } from '../../test/worker/overriding.js';
import { processIdentity, startTimeIn } from '../worker/process-identity.js';
import { cleanUpAfterExit } from './clean-up-after-exit.js';

const name = 'served';

let scene: DeathScene;
let place: Place;
let process: ChildProcess;
let pid: number;
let worker: Owner;
let task: string;

async function register(identity: Record<string, string> = {}): Promise<Owner> {
  const startTime = startTimeIn(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return registerOwner(place, { name, pid, identity: { ...processIdentity(), startTime, ...identity } });
}

async function exit(): Promise<void> {
  process.kill('SIGKILL');
  await once(process, 'exit');
}

async function isSettled(): Promise<boolean> {
  return (await scene.row(task)).state === 'failed' && (await scene.hold(task)) === null;
}

function cleanUp(recovery: Partial<Recovery> = {}, limitMs = 10_000): Promise<void> {
  return cleanUpAfterExit({ ...place, ...recovery }, { name, pid }, AbortSignal.timeout(limitMs));
}

describe.runIf(globalThis.process.platform === 'linux')('after the exit of a worker process', () => {
  beforeEach(async () => {
    scene = await DeathScene.open();
    ({ place } = scene);
    process = spawn('sleep', ['60'], { stdio: 'ignore' });
    pid = process.pid ?? 0;
    worker = await register();
    task = (await runningJobs(place, worker, {}))[0]?.id ?? '';
  });
  afterEach(async () => {
    process.kill('SIGKILL');
    await place.close();
  });

  test('what it ran is settled, what it held is free, and its row is gone', async () => {
    await exit();
    await cleanUp();
    expect(await isSettled()).toBe(true);
    expect(await rowsLeft(place)).not.toContain(worker.incarnation);
  });

  test('a beat that was on its way when it died changes nothing', async () => {
    await exit();
    const store = overriding(place.store, {
      workersNamed: async (asked) => {
        const rows = await place.store.workersNamed(asked);
        await place.store.beat(worker.incarnation);
        return rows;
      },
    });
    await cleanUp({ store });
    expect(await isSettled()).toBe(true);
  });

  test('cleaning up is tried again until it is done, whatever fails', async () => {
    await exit();
    let left = 3;
    const failing = (): void => {
      left -= 1;
      if (left >= 0) throw new Error('as it should');
    };
    const store = overriding(place.store, {
      workersNamed: async (asked) => (failing(), place.store.workersNamed(asked)),
      reapWorker: async (incarnation) => (failing(), place.store.reapWorker(incarnation)),
      removeWorker: async (incarnation) => (failing(), place.store.removeWorker(incarnation)),
    });
    await cleanUp({ store });
    expect(await rowsLeft(place)).not.toContain(worker.incarnation);
    expect(await isSettled()).toBe(true);
  });

  test('one of its rows that fails keeps no other back', async () => {
    const other = await register();
    await exit();
    const store = overriding(place.store, {
      reapWorker: async (incarnation) => {
        if (incarnation === worker.incarnation) throw new Error('as it should');
        return place.store.reapWorker(incarnation);
      },
    });
    await cleanUp({ store }, 500);
    expect(await rowsLeft(place)).toContain(worker.incarnation);
    expect(await rowsLeft(place)).not.toContain(other.incarnation);
  });

  test('what another has declared dead is cleaned up, and what another has cleaned up is done', async () => {
    await place.store.reapWorker(worker.incarnation);
    await exit();
    await cleanUp();
    expect(await isSettled()).toBe(true);
    await cleanUp();
  });

  test.each(['bootId', 'pidNamespace'])(
    'a namesake with its pid and another %s is left alone',
    async (key) => {
      const namesake = await register({ [key]: 'elsewhere' });
      const [itsTask] = await runningJobs(place, namesake, {});
      await exit();
      await cleanUp();
      const told = place.lines.map(({ message }) => message);
      expect(told).not.toContain('what a lost worker process held is left to others');
      expect(await scene.row(itsTask?.id)).toMatchObject({ state: 'running' });
      expect(await rowsLeft(place)).toContain(namesake.incarnation);
    },
  );

  test('nothing is done to one that still runs', async () => {
    await cleanUp({}, 300);
    expect(await scene.row(task)).toMatchObject({ state: 'running' });
    expect(await rowsLeft(place)).toContain(worker.incarnation);
  });
});
