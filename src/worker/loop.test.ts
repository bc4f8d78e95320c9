import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { Loop } from './loop.js';

test('a wake-up ends the pause, also one that comes in during a round', async () => {
  let rounds = 0;
  const loop = new Loop({
    poll: async () => {
      rounds += 1;
      if (rounds === 1) loop.wake();
      return Infinity;
    },
    onError: () => 0,
  });
  loop.start();
  await waitUntil(() => rounds === 2, 'the round after the wake-up of the first was done');
  loop.wake();
  await waitUntil(() => rounds === 3, 'the pause was ended');
  await loop.stop();
});

test('rounds without a pause let timers have their turn', async () => {
  let rounds = 0;
  const loop = new Loop({ poll: async () => (rounds += 1) * 0, onError: () => 0 });
  loop.start();
  await delay(5);
  await loop.stop();
  expect(rounds).toBeGreaterThan(1);
});

test('a failure is told with how many came in a row, and wake-ups do not shorten its pause', async () => {
  const told: number[] = [];
  let rounds = 0;
  const loop = new Loop({
    poll: async () => {
      rounds += 1;
      throw new Error('not now');
    },
    onError: (_error, failures) => {
      told.push(failures);
      return failures < 3 ? 1 : Infinity;
    },
  });
  loop.start();
  await waitUntil(() => rounds === 3, 'three rounds failed');
  loop.wake();
  await delay(20);
  expect(told).toEqual([1, 2, 3]);
  await loop.stop();
});

test('stop waits for the round under way, and starts no other', async () => {
  let finish: () => void = () => {};
  let rounds = 0;
  const loop = new Loop({
    poll: () => {
      rounds += 1;
      return new Promise((resolve) => {
        finish = () => resolve(0);
      });
    },
    onError: () => 0,
  });
  loop.start();
  const stopped = loop.stop();
  finish();
  await stopped;
  await loop.stop();
  expect(rounds).toBe(1);
});

test('stop does not wait for ever', async () => {
  const loop = new Loop({ poll: () => new Promise(() => {}), onError: () => 0, stopLimitMs: 20 });
  loop.start();
  await loop.stop();
});

test('a loop that was stopped before it started does nothing', async () => {
  let rounds = 0;
  const loop = new Loop({ poll: async () => (rounds += 1), onError: () => 0 });
  await loop.stop();
  loop.start();
  await delay(5);
  expect(rounds).toBe(0);
});
