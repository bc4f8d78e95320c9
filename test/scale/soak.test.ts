import { expect, test } from 'vitest';
import { soak } from './soak.js';

test('800 random operations of every kind, under deploys, leave nothing behind', async () => {
  const { runs, deploys } = await soak(800);
  expect(runs).toBeGreaterThan(200);
  expect(deploys).toBeGreaterThan(0);
}, 400_000);
