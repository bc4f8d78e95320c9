import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addWorkerFlags, argumentsOf, type WorkerFlags } from './worker-flags.js';

function parsed(args: string[]): WorkerFlags {
  return addWorkerFlags(new Command()).parse(args, { from: 'user' }).opts<WorkerFlags>();
}

test('the arguments of a worker process say all that the flags said', () => {
  const args = ['--tasks', 'a.js', '--tasks', 'b.js', '--name=-w', '--concurrency', '3', '--ttl', '5s'];
  const more = ['--grace', '0', '--queue=-q', '--queue', 'r', '--version', 'x=1', '--isolation', 'child'];
  const flags = parsed([...args, ...more, '--sole-name']);
  expect(flags).toEqual({
    ...{ tasks: ['a.js', 'b.js'], name: '-w', concurrency: 3, ttl: '5s', grace: '0' },
    ...{ queue: ['-q', 'r'], version: ['x=1'], isolation: 'child', soleName: true },
  });
  expect(parsed(argumentsOf(flags))).toEqual(flags);
});
