import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObservedWorker } from '../store/lost-workers.js';
import { Liveness } from './liveness.js';

const ttlMs = 12_000;

function worker(counter: number, given: Partial<ObservedWorker> = {}): ObservedWorker {
  return { incarnation: '1', name: 'w', counter: String(counter), ttlMs, reaped: false, ...given };
}

/** Reads the same workers every 3 s, from one moment to another, both included. */
function watch(liveness: Liveness, workers: ObservedWorker[], from: number, to: number): void {
  for (let at = from; at <= to; at += 3_000) liveness.observe(workers, at);
}

function names(workers: ObservedWorker[]): string[] {
  return workers.map(({ incarnation }) => incarnation);
}

describe('a worker is dead', () => {
  test('once its counter has stood still for its whole TTL since the reply to the first read of it', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(7)], 1_000, 13_000);
    expect(liveness.deadAt(12_999)).toEqual([]);
    expect(liveness.deadAt(13_000)).toEqual([worker(7)]);
  });

  test('by its own TTL, each of them', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(1), worker(1, { incarnation: '2', ttlMs: 9_000 })], 0, 9_000);
    expect(names(liveness.deadAt(9_000))).toEqual(['2']);
    watch(liveness, [worker(1), worker(1, { incarnation: '2', ttlMs: 9_000 })], 12_000, 12_000);
    expect(names(liveness.deadAt(12_000))).toEqual(['1', '2']);
  });

  test('not while it beats, however late the beats are', () => {
    const liveness = new Liveness();
    for (let round = 0; round < 4; round += 1) {
      watch(liveness, [worker(round)], round * 12_000, round * 12_000 + 9_000);
      expect(liveness.deadAt(round * 12_000 + 11_999)).toEqual([]);
    }
  });

  test('nor where somebody has reaped it, or its row is gone', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(1), worker(1, { incarnation: '2' })], 0, 9_000);
    liveness.observe([worker(1, { reaped: true })], 12_000);
    expect(liveness.deadAt(12_000)).toEqual([]);
    expect(liveness.nextDeath(0)).toBe(Infinity);
  });

  test('where its counter went back as well as where it went on, after another TTL only', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(9)], 0, 9_000);
    watch(liveness, [worker(8)], 12_000, 21_000);
    expect(liveness.deadAt(23_999)).toEqual([]);
    liveness.observe([worker(8)], 24_000);
    expect(names(liveness.deadAt(24_000))).toEqual(['1']);
  });
});

describe('counting begins anew', () => {
  test('after a gap of more than a third of its TTL between two reads, and not before', () => {
    for (const [gap, dead] of [
      [4_000, ['1']],
      [4_001, []],
    ] as const) {
      const liveness = new Liveness();
      watch(liveness, [worker(1)], 0, 9_000);
      liveness.observe([worker(1)], 9_000 + gap);
      expect(names(liveness.deadAt(9_000 + gap))).toEqual(dead);
    }
  });

  test('so that a gap kills only those of a longer TTL', () => {
    const liveness = new Liveness();
    const both = [worker(1), worker(1, { incarnation: '2', ttlMs: 6_000 })];
    watch(liveness, both, 0, 9_000);
    liveness.observe(both, 13_000);
    expect(names(liveness.deadAt(13_000))).toEqual(['1']);
  });

  test('after a failed read', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(1)], 0, 9_000);
    liveness.forget();
    watch(liveness, [worker(1)], 12_000, 21_000);
    expect(liveness.deadAt(23_999)).toEqual([]);
    liveness.observe([worker(1)], 24_000);
    expect(names(liveness.deadAt(24_000))).toEqual(['1']);
  });

  test('for one whose row was missing in a read between', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(1)], 0, 9_000);
    liveness.observe([], 10_000);
    watch(liveness, [worker(1)], 12_000, 21_000);
    expect(liveness.deadAt(23_999)).toEqual([]);
  });

  test('and nothing is told about a moment long after the last read', () => {
    const liveness = new Liveness();
    watch(liveness, [worker(1)], 0, 12_000);
    expect(names(liveness.deadAt(16_000))).toEqual(['1']);
    expect(liveness.deadAt(16_001)).toEqual([]);
  });
});

test('the next death is told, of those that are not due yet', () => {
  const liveness = new Liveness();
  expect(liveness.nextDeath(0)).toBe(Infinity);
  watch(liveness, [worker(1), worker(1, { incarnation: '2', ttlMs: 9_000 })], 0, 9_000);
  expect(liveness.nextDeath(0)).toBe(9_000);
  expect(liveness.nextDeath(9_000)).toBe(12_000);
});

test('reads are so frequent that no gap becomes too long, and at most 5 s apart', () => {
  const liveness = new Liveness();
  expect(liveness.periodMs).toBe(5_000);
  liveness.observe([worker(1, { ttlMs: 60_000 })], 0);
  expect(liveness.periodMs).toBe(5_000);
  liveness.observe([worker(1, { ttlMs: 60_000 }), worker(1, { incarnation: '2', ttlMs: 600 })], 1);
  expect(liveness.periodMs).toBeLessThan(200);
});

test('who looks seldom declares nobody dead, but finds out who is not there any more', () => {
  const liveness = new Liveness();
  const beating = (counter: number): ObservedWorker => worker(counter, { incarnation: '2' });
  liveness.observe([worker(1), beating(1)], 0);
  expect(liveness.likelyAliveAt(0)).toEqual(['1', '2']);
  liveness.observe([worker(1), beating(4)], 15_000);
  expect(liveness.likelyAliveAt(15_000)).toEqual(['2']);
  expect(liveness.deadAt(15_000)).toEqual([]);
  liveness.observe([worker(1), worker(5, { incarnation: '2', reaped: true })], 16_000);
  expect(liveness.likelyAliveAt(16_000)).toEqual([]);
});

/** What happens to the watched worker, or to the one that watches, after a while. */
type Event = { afterMs: number; what: 'read' | 'failed read' | 'beat' | 'look' };

const event: fc.Arbitrary<Event> = fc.record({
  afterMs: fc.oneof(fc.constantFrom(0, 1, 2_999, 3_000, 3_999, 4_000, 4_001), fc.nat(5_000)),
  what: fc.oneof(
    { weight: 8, arbitrary: fc.constant('read' as const) },
    { weight: 1, arbitrary: fc.constantFrom('failed read' as const, 'beat' as const) },
    { weight: 2, arbitrary: fc.constant('look' as const) },
  ),
});

test('nobody is dead before a whole TTL of healthy observation of one counter, and everybody is then', () => {
  let deaths = 0;
  const property = fc.property(
    fc.array(event, { minLength: 5, maxLength: 60 }),
    fc.nat(1e9),
    (events, start) => {
      const liveness = new Liveness();
      let now = start;
      let counter = 0;
      // The model: the replies since the last thing that makes counting begin anew, all with one counter.
      let replies: { at: number; counter: number }[] = [];
      for (const { afterMs, what } of events) {
        now += afterMs;
        if (what === 'beat') counter += 1;
        if (what === 'failed read') {
          liveness.forget();
          replies = [];
        }
        if (what === 'read') {
          liveness.observe([worker(counter)], now);
          const last = replies.at(-1);
          const goesOn = last?.counter === counter && now - last.at <= ttlMs / 3;
          replies = goesOn ? [...replies, { at: now, counter }] : [{ at: now, counter }];
        }
        const [first, last] = [replies[0], replies.at(-1)];
        const healthy = first !== undefined && last !== undefined && now - last.at <= ttlMs / 3;
        const dead = healthy && now - first.at >= ttlMs;
        if (dead) deaths += 1;
        expect(liveness.deadAt(now).length).toBe(dead ? 1 : 0);
        if (first !== undefined) expect(liveness.nextDeath(first.at)).toBe(first.at + ttlMs);
      }
    },
  );
  fc.assert(property, { numRuns: 500 });
  expect(deaths).toBeGreaterThan(0);
});
