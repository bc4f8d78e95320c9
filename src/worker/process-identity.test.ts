import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { compiledFile } from '../entry-point.js';
import { processIdentity, startTimeIn } from './process-identity.js';

test.runIf(process.platform === 'linux')('a process is told from every other life of its pid', () => {
  const identity = processIdentity();
  expect(identity).toEqual({
    bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    pidNamespace: expect.stringMatching(/^pid:\[\d+\]$/),
    startTime: expect.stringMatching(/^\d+$/),
    user: String(process.getuid?.()),
  });
  expect(processIdentity()).toEqual(identity);
  const stat = spawnSync('cat', ['/proc/self/stat'], { encoding: 'utf8' }).stdout;
  expect(Number(startTimeIn(stat))).toBeGreaterThan(Number(identity['startTime']));
});

test('the start time is found behind any process name', () => {
  const fields = Array.from({ length: 22 }, (_, index) => String(index + 1));
  expect(startTimeIn(['1', '(a) 9 (b c) d)', ...fields.slice(2)].join(' '))).toBe('22');
});

const module = compiledFile(import.meta.url, './process-identity.js').href;
const unshare = ['--pid', '--fork'];
const canUnshare = spawnSync('unshare', [...unshare, '--mount-proc', 'true']).status === 0;

/** What a process in a pid namespace of its own tells of itself. */
function identityBehind(...flags: string[]): Record<string, string> {
  const script = `import(${JSON.stringify(module)}).then((m) => console.log(JSON.stringify(m.processIdentity())))`;
  const args = [...unshare, ...flags, process.execPath, '-e', script];
  const { stdout } = spawnSync('unshare', args, { encoding: 'utf8' });
  return JSON.parse(stdout) as Record<string, string>;
}

test.runIf(canUnshare)('one in another pid namespace is told apart by that', () => {
  const identity = identityBehind('--mount-proc');
  expect(identity).toMatchObject({ bootId: processIdentity()['bootId'] });
  expect(identity['pidNamespace']).toMatch(/^pid:/);
  expect(identity['pidNamespace']).not.toBe(processIdentity()['pidNamespace']);
});

test.runIf(canUnshare)('where /proc tells of other processes than its pids, no namespace is told', () => {
  expect(identityBehind()['pidNamespace']).toBeUndefined();
});
