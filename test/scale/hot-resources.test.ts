import { test } from 'vitest';
import { runOnHotResources } from './hot-resources.js';

test('2,000 tasks over 50 hot resources on 3 worker processes never collide and keep their order', async () => {
  await runOnHotResources(2_000);
}, 600_000);
