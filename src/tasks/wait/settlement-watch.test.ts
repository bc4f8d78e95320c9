import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../errors.js';
import { SettlementWatch } from './settlement-watch.js';

let announce: (tasks: string[]) => void;
let asked: string[][];
let answer: (ids: string[]) => string[];
let watch: SettlementWatch;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  answer = () => [];
  watch = new SettlementWatch({
    store: {
      settledAmong: (ids) => {
        asked.push(ids);
        return Promise.resolve().then(() => answer(ids));
      },
    },
    table: {
      onSettled: (listener) => {
        announce = listener;
        return () => (announce = () => {});
      },
    },
  });
});
afterEach(() => {
  watch.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('SettlementWatch', () => {
  it('tells all who wait at an announcement, once, and leaves no timer behind', async () => {
    const told: string[] = [];
    watch.watch('a', () => told.push('first'));
    watch.watch('a', () => told.push('second'));
    watch.watch('b', () => told.push('other'));
    announce(['x', 'a', 'a']);
    announce(['b']);
    expect(told).toEqual(['first', 'second', 'other']);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([]);
  });

  it('asks for all tasks in one query when announcements are lost', async () => {
    const told: string[] = [];
    for (const task of ['a', 'b', 'c']) watch.watch(task, () => told.push(task));
    answer = () => ['b'];
    await vi.advanceTimersByTimeAsync(50);
    expect(asked).toEqual([['a', 'b', 'c']]);
    expect(told).toEqual(['b']);
  });

  it('asks ever less often while nothing settles, and at once again for a new task', async () => {
    watch.watch('a', () => {});
    await vi.advanceTimersByTimeAsync(10_000);
    const before = asked.length;
    expect(before).toBeLessThanOrEqual(12);
    watch.watch('b', () => {});
    await vi.advanceTimersByTimeAsync(50);
    expect(asked.slice(before)).toEqual([['a', 'b']]);
  });

  it('goes on after a poll that failed', async () => {
    const told: string[] = [];
    watch.watch('a', () => told.push('a'));
    answer = () => {
      throw new Unavailable('down');
    };
    await vi.advanceTimersByTimeAsync(60);
    answer = (ids) => ids;
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toEqual(['a']);
  });

  it('cuts long lists of ids', async () => {
    for (let n = 0; n < 2_500; n += 1) watch.watch(String(n), () => {});
    await vi.advanceTimersByTimeAsync(50);
    expect(asked.map((ids) => ids.length)).toEqual([1_000, 1_000, 500]);
  });

  it('forgets who has stopped waiting', async () => {
    const unwatch = watch.watch('a', () => expect.unreachable());
    unwatch();
    announce(['a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells the others that it stops and takes no more', () => {
    const told: string[] = [];
    watch.watch('a', (noticed) => told.push(noticed));
    watch.stop();
    expect(told).toEqual(['stopped']);
    expect(() => watch.watch('a', () => {})).toThrow(Unavailable);
  });
});
