import { expect, test } from 'vitest';
import { brokenBuilds, filesToBreak } from './broken-builds.js';

test.each(brokenBuilds)('there is still something to break: $name', (build) => {
  expect(filesToBreak(build)).not.toEqual([]);
});
