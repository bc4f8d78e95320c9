import { moment, type FaultKind } from './fault-kind.js';

/** Many at once, whatever has become of them. */
export const cancelStorm: FaultKind = {
  name: 'cancel many',
  weight: 4,
  hits: 'everybody',
  ms: moment,
  inflict: async ({ holdfast, recentTasks }) => {
    const ids = recentTasks(40);
    if (ids.length > 0) await holdfast(['tasks', 'cancel', ...ids]);
  },
};

export const pauseQueue: FaultKind = {
  name: 'pause queue',
  weight: 4,
  hits: 'everybody',
  ms: () => [500, 6_000],
  group: 'queue',
  inflict: async ({ holdfast, pause }, { ms }) => {
    await holdfast(['queues', 'pause', 'side']);
    await pause(ms);
    await holdfast(['queues', 'resume', 'side']);
  },
};
