import { expect, it } from 'vitest';
import type { WorkerPorts } from './worker-in-process.js';
import { InvalidTask } from '../errors.js';
import { WorkerInProcess } from './worker-in-process.js';

it.each([null, 5, [], { taskFiles: 'tasks.mjs' }, { taskFiles: [1] }, { taskFiles: {} }])(
  'createWorker refuses %j',
  (options) => {
    const create = (): unknown => new WorkerInProcess(options as never, {} as WorkerPorts);
    expect(create).toThrow(InvalidTask);
  },
);
