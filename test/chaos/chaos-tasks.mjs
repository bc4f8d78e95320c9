// The task file of the workers: one definition for each way in which a task can be run, lost and undone. A payload names
// the resources besides, so that the journal tells what was asked for and not what the product made of it.
import { journaled, rest, spin } from './write-journal.mjs';

const { defineTask } = await import(`${process.env.CHAOS_BUILD}/index.js`);

const subject = (part, isolation, payload, { task, fence }) => ({
  part,
  task: task.id,
  entry: task.entry,
  fence,
  exclusive: payload.exclusive,
  shared: payload.shared,
  owner: isolation === 'child' ? process.ppid : process.pid,
});

const failing = ({ failures }, { attempt }) => {
  if (attempt <= failures) throw new Error('as it should');
};
const resting = async (payload, context, alive) => {
  await rest(payload.ms, alive, context.signal);
  failing(payload, context);
};

function define(name, options = {}, work = resting) {
  const { isolation = 'inline', rollsBack = false, ...others } = options;
  return defineTask({
    name: `chaos.${name}`,
    isolation,
    maxAttempts: 3,
    backoff: { initial: '50ms', max: '500ms' },
    run: (payload, context) =>
      journaled(subject('run', isolation, payload, context), (alive) => work(payload, context, alive)),
    ...(rollsBack && {
      rollback: (payload, context) =>
        journaled(subject('rollback', isolation, payload, context), (alive) =>
          rest(payload.ms / 2, alive, context.signal),
        ),
    }),
    ...others,
  });
}

export const inline = define('inline');
export const once = define('once', { maxAttempts: 1 });
export const kept = define('kept', { onWorkerLost: 'retry', maxCrashes: 100 });
export const rollsBack = define('rolls-back', { rollsBack: true });
export const child = define('child', { isolation: 'child' });
export const childRollsBack = define('child-rolls-back', { isolation: 'child', rollsBack: true });
export const deaf = define('deaf', { isolation: 'child' }, async (payload, context, alive) => {
  await rest(payload.ms, alive);
  failing(payload, context);
});
export const spins = define('spins', { isolation: 'child' }, (payload, context, alive) => {
  spin(payload.ms, alive);
  failing(payload, context);
});
/** Is dispatched without the resources that it needs. */
export const computes = define('computes', {
  resources: ({ exclusive, shared }) => ({ exclusive, shared }),
});
/** Each worker runs one of these in the end. */
export const answers = defineTask({ name: 'chaos.answers', run: () => {} });
