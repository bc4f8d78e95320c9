import { expect, test } from 'vitest';
import { soak } from '../soak.js';

test('100,000 random operations of every kind, under deploys, leave nothing behind', async () => {
  const report = await soak(100_000, 20);
  console.log(report);
  expect(report.runs).toBeGreaterThan(20_000);
}, 2_400_000);
