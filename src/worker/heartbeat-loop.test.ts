import { afterEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import type { Moment } from './deadline.js';
import { currentMoment } from './deadline.js';
import type { HeartbeatLoopOptions, ThreadBeater } from './heartbeat-loop.js';
import { HeartbeatLoop } from './heartbeat-loop.js';

let loop: HeartbeatLoop | null = null;

afterEach(() => loop?.stop());

function start(beat: ThreadBeater['beat'], options: Partial<HeartbeatLoopOptions> = {}): void {
  const nothing = (): void => {};
  const handlers = { onBeaten: nothing, onReaped: nothing, onError: nothing };
  loop = new HeartbeatLoop({ beater: { beat, close: nothing }, intervalMs: 50, ...handlers, ...options });
  loop.start();
}

test('a beat counts from its sending, however late the reply', async () => {
  const sent: Moment[] = [];
  let asked: Moment | undefined;
  start(
    async () => {
      asked ??= currentMoment();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return 'beaten';
    },
    { onBeaten: (sentAt) => sent.push(sentAt) },
  );
  await waitUntil(() => sent.length > 0, 'a beat is confirmed');
  expect(sent[0]?.monotonicMs).toBeLessThanOrEqual(asked?.monotonicMs ?? 0);
});

test('failed beats are repeated soon, then less and less soon, and never two at a time', async () => {
  const times: number[] = [];
  let beating = 0;
  start(
    async () => {
      times.push(performance.now());
      expect(++beating).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      beating -= 1;
      throw new Error('No database.');
    },
    { intervalMs: 600 },
  );
  await waitUntil(() => times.length >= 6, 'six beats have failed');
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(pauses[0]).toBeLessThan(150);
  expect(pauses[4]).toBeGreaterThan(150);
});

test('a worker that was reaped beats no more once the loop is stopped', async () => {
  let beats = 0;
  let reaped = false;
  const beat: ThreadBeater['beat'] = () => {
    beats += 1;
    return Promise.resolve('reaped');
  };
  start(beat, {
    onReaped: () => {
      reaped = true;
      loop?.stop();
    },
  });
  await waitUntil(() => reaped, 'it is reaped');
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(beats).toBe(1);
});
