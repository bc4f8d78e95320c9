import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { MirrorDemo } from './mirror-demo.js';
import * as mirror from '../../examples/mirror/index.js';
import { loadMirrorDemo, mirrorTaskFile } from './mirror-demo.js';

it('describes the example as it is', async () => {
  // The compiler compares the two here: the command line is built before the example.
  const source: MirrorDemo = mirror;
  const built = await loadMirrorDemo();
  expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
  expect(built.tasks.map(({ name }) => name)).toEqual(['package.sync', 'store.gc', 'index.publish']);
  expect(existsSync(mirrorTaskFile)).toBe(true);
});
