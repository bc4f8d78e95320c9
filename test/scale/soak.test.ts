import { expect, test } from 'vitest';
import { soak } from './soak.js';

test('5,000 random operations of every kind, under deploys, leave nothing behind', async () => {
  const { runs, deploys } = await soak(5_000);
  expect(runs).toBeGreaterThan(1_000);
  expect(deploys).toBeGreaterThan(0);
}, 400_000);
