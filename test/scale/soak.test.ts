import { expect, test } from 'vitest';
import { soak } from './soak.js';

test('500 random operations of every kind, under deploys, leave nothing behind', async () => {
  const { runs, deploys } = await soak(500);
  expect(runs).toBeGreaterThan(100);
  expect(deploys).toBeGreaterThan(0);
}, 400_000);
