import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AdHocLock } from 'holdfast';
import { expect } from 'vitest';
import { waitUntil } from '../../helpers/wait-until.js';
import type { OutagePlace } from './outage-place.js';

const running = 20;
const waiting = 200;

/** 20 tasks that run until they are told to end, 200 that wait behind them, one that is being canceled, and two locks. */
export interface RedisLoad {
  /** Until a task that was dispatched now has ended, in milliseconds. */
  canaryMs(): Promise<number>;
  /** Ends what holds the others up, and waits until all is over; throws unless each of them ran once, with its locks. */
  end(): Promise<void>;
}

let rounds = 0;

export async function loadWithHolders(place: OutagePlace): Promise<RedisLoad> {
  const { hf, gate } = place;
  const round = ++rounds;
  if (!existsSync(gate)) writeFileSync(gate, '');
  const resource = (n: number): string[] => [`${round}:r${n % running}`];
  const held = await hf.dispatchMany(
    Array.from({ length: running }, (_, n) => ({
      ...{ name: n < 2 ? 'holds in a child' : 'holds', payload: { until: gate, order: '0' } },
      exclusive: resource(n),
    })),
  );
  const deaf = await hf.dispatch('ignores its signal', { until: gate }, { exclusive: [`${round}:c`] });
  const begun = async (): Promise<boolean> => {
    const { tasks } = await hf.tasks.list({ state: 'running', limit: 1_000 });
    return tasks.filter(({ progress }) => progress.length > 0).length === running + 1;
  };
  await waitUntil(begun, 'they run', 40_000);
  await hf.tasks.cancel(deaf.id);
  const behind = await hf.dispatchMany([
    ...Array.from({ length: waiting }, (_, n) => ({
      ...{ name: 'work', payload: { ms: 2, order: String(n + 1) }, exclusive: resource(n) },
    })),
    { name: 'work', payload: {}, exclusive: [`${round}:c`] },
  ]);
  const lock = await hf.locks.acquire({ exclusive: [`${round}:l`] }, { wait: 0 });
  let granted = false;
  const second = hf.locks.acquire({ exclusive: [`${round}:l`] }, { wait: '60s' }).then((given: AdHocLock) => {
    granted = true;
    return given;
  });
  second.catch(() => {});
  return {
    canaryMs: async () => {
      const started = performance.now();
      const { id } = await hf.dispatch('work', {}, { exclusive: [`${round}:canary`] });
      await hf.wait(id, { timeout: '30s' });
      return Math.round(performance.now() - started);
    },
    end: async () => {
      // Had somebody forgotten who holds, these would have begun.
      await delay(200);
      expect(granted).toBe(false);
      expect(lock.signal.aborted).toBe(false);
      expect((await hf.tasks.get(behind[0]?.id ?? '')).state).toBe('waiting');
      place.openGate();
      await lock.release();
      await (await second).release();
      await waitUntil(async () => allOver(place), 'all has ended', 60_000);
      for (const { id } of [...held, ...behind]) {
        expect(await hf.tasks.get(id)).toMatchObject({
          state: 'completed',
          entry: 1,
          attempt: 1,
          crashes: 0,
        });
      }
      expect(await hf.tasks.get(deaf.id)).toMatchObject({ state: 'canceled', entry: 1 });
    },
  };
}

async function allOver(place: OutagePlace): Promise<true> {
  const states = await place.states();
  const { completed: _, canceled: _canceled, failed: _failed, ...left } = states;
  if (Object.keys(left).length === 0) return true;
  throw new Error(`There still are ${JSON.stringify(left)}.`);
}
