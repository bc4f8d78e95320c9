import { expect, test } from 'vitest';
import { soak } from './soak.js';

test('500 random operations of every kind, under deploys, leave nothing behind', async () => {
  const { runs, deploys } = await soak(500, 2);
  expect(runs).toBeGreaterThan(100);
  expect(deploys).toBe(2);
}, 400_000);
