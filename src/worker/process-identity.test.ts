import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { processIdentity, startTimeIn } from './process-identity.js';

test.runIf(process.platform === 'linux')('a process is told from every other life of its pid', () => {
  const identity = processIdentity();
  expect(identity).toEqual({
    bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    pidNamespace: expect.stringMatching(/^pid:\[\d+\]$/),
    startTime: expect.stringMatching(/^\d+$/),
  });
  expect(processIdentity()).toEqual(identity);
  const stat = spawnSync('cat', ['/proc/self/stat'], { encoding: 'utf8' }).stdout;
  expect(Number(startTimeIn(stat))).toBeGreaterThan(Number(identity['startTime']));
});

test('the start time is found behind any process name', () => {
  const fields = Array.from({ length: 22 }, (_, index) => String(index + 1));
  expect(startTimeIn(['1', '(a) 9 (b c) d)', ...fields.slice(2)].join(' '))).toBe('22');
});
