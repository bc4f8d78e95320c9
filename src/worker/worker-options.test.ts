import { expect, it } from 'vitest';
import type { WorkerOptions } from './worker-options.js';
import { InvalidTask } from '../errors.js';
import { checkWorkerOptions } from './worker-options.js';

function check(options: object): ReturnType<typeof checkWorkerOptions> {
  return checkWorkerOptions({ definitions: new Map(), name: 'w', ...options } as unknown as WorkerOptions);
}

const bare: unknown = Object.create(null);

it.each<[object, string]>([
  [{ queues: 'default' }, 'queues must be a list of texts; got "default"'],
  [{ queues: { default: true } }, 'queues must be a list'],
  [{ queues: ['default', 1] }, 'queues must be a list'],
  [{ queues: [''] }, 'A queue must not be empty'],
  [{ taskFiles: 'tasks.mjs' }, 'taskFiles must be a list'],
  [{ taskFiles: [null] }, 'taskFiles must be a list'],
  [{ ttlMs: 999 }, 'ttl must be 1,000 ms … 24 hours'],
  [{ ttlMs: 86_400_001 }, 'ttl must be 1,000 ms … 24 hours'],
  [{ concurrency: bare }, 'concurrency must be an integer'],
  [{ concurrency: Symbol('all') }, 'concurrency must be an integer'],
  [{ isolation: 'thread' }, 'isolation must be "inline" or "child"; got "thread"'],
  [{ isolation: null }, 'isolation must be'],
  [{ versions: '6' }, 'takes its options as an object'],
  [{ versions: { ffmpeg: 6 } }, 'The version of "ffmpeg" must be a string'],
  [{ versions: { ffmpeg: bare } }, 'The version of "ffmpeg" must be a string'],
  [{ versions: { ffmpeg: '6.1\0' } }, 'must not contain NUL'],
  [{ versions: { ffmpeg: '6.1\uD800' } }, 'must not contain a lone surrogate'],
  [{ versions: { ffmpeg: 'new' } }, 'must be one such as "6.1.0" or "6"; got "new"'],
])('what cannot work is refused: %#', (options, message) => {
  expect(() => check(options)).toThrow(InvalidTask);
  expect(() => check(options)).toThrow(message);
});

it('what can work is taken, with the defaults', () => {
  expect(check({ ttlMs: 86_400_000, versions: { ffmpeg: '6' } })).toMatchObject({
    ...{ concurrency: 10, ttlMs: 86_400_000, isolation: 'inline', taskFiles: [] },
    offer: { queues: ['default'], names: [], versions: { ffmpeg: '6' } },
  });
});
