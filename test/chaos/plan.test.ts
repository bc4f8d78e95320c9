import { expect, test } from 'vitest';
import { planFaults } from './nemesis.js';
import { seeded } from './seeded.js';
import { operations } from './workload.js';

const setting = {
  ...{
    forMs: 300_000,
    ttlMs: 3_000,
    stores: { redis: 'standalone', postgres: 'standalone' } as const,
    workers: ['w1', 'w2'],
    only: null,
  },
};

function firstOperations(seed: number): unknown[] {
  const stream = operations(seeded(seed, 'workload'), { perSecond: 10, longPercent: 5 });
  return Array.from({ length: 200 }, () => stream.next().value);
}

test('a seed always gives the same faults and the same operations, another one others', () => {
  expect(planFaults(seeded(7, 'faults'), setting)).toEqual(planFaults(seeded(7, 'faults'), setting));
  expect(planFaults(seeded(7, 'faults'), setting)).not.toEqual(planFaults(seeded(8, 'faults'), setting));
  expect(firstOperations(7)).toEqual(firstOperations(7));
  expect(firstOperations(7)).not.toEqual(firstOperations(8));
});

test('only what was asked for is planned, and what is not possible is not', () => {
  const only = planFaults(seeded(1, 'faults'), { ...setting, only: ['kill worker'] });
  expect(new Set(only.map(({ kind }) => kind))).toEqual(new Set(['kill worker']));
  expect(planFaults(seeded(1, 'faults'), setting).map(({ kind }) => kind)).not.toContain('fail over redis');
  const replicated = { ...setting, stores: { ...setting.stores, postgres: 'standby' } as const };
  const kinds = new Set(planFaults(seeded(1, 'faults'), replicated).map(({ kind }) => kind));
  expect(kinds).toContain('fail over postgres');
  expect(() => planFaults(seeded(1, 'faults'), { ...setting, only: ['nonsense'] })).toThrow(
    /There are: kill worker/,
  );
});
