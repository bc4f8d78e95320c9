// Tasks whose worker is killed between a failure and its roll-back, or in the middle of the roll-back. Each handler
// writes what it does to the journal that its payload names. It imports the build, as children do.
import { appendFileSync } from 'node:fs';
import { defineTask } from '../../../dist/tasks/definition.js';

const tell = ({ journal }, line) => appendFileSync(journal, `${line}\n`);
const resources = () => ({ exclusive: ['r'] });

export default [
  defineTask({
    name: 'failing',
    resources,
    run: (payload) => {
      tell(payload, 'run');
      throw new Error('boom');
    },
    rollback: async (payload, { signal, progress }) => {
      tell(payload, `rollback ${process.pid}`);
      if (payload.stays !== undefined && process.env.STAYS === '1') {
        progress('stays');
        await new Promise(() => {});
      }
      signal.throwIfAborted();
      tell(payload, 'rolled back');
    },
    rollbackTimeout: '20s',
  }),
  defineTask({
    name: 'deaf-rollback',
    resources,
    run: () => {
      throw new Error('boom');
    },
    rollback: async () => {
      process.on('SIGTERM', () => {});
      await new Promise(() => {});
    },
    rollbackTimeout: '1s',
  }),
  defineTask({ name: 'behind', resources, run: (payload) => tell(payload, 'behind') }),
];
