import { moment, type FaultKind } from './fault-kind.js';

/** SIGKILL. The next one under the name comes soon, and cleans up; or late, and others do. */
export const killWorker: FaultKind = {
  name: 'kill worker',
  weight: 24,
  hits: 'worker',
  ms: moment,
  group: 'kill',
  inflict: async ({ fleet }, { target, downMs }) => void fleet.member(target).kill(downMs),
};

export const killApi: FaultKind = {
  name: 'kill api',
  weight: 6,
  hits: 'everybody',
  ms: moment,
  group: 'kill',
  inflict: async ({ fleet }, { downMs }) => void fleet.api.kill(downMs),
};

/** All but one at a time: whoever observes is among them. */
export const killMost: FaultKind = {
  name: 'kill all workers but one',
  weight: 3,
  hits: 'worker',
  ms: moment,
  group: 'kill',
  inflict: async ({ fleet }, { target, downMs }) => {
    for (const member of fleet.workers) if (member.name !== target) member.kill(downMs);
  },
};

/** As a deploy does. */
export const replaceWorker: FaultKind = {
  name: 'stop worker in order',
  weight: 8,
  hits: 'worker',
  ms: moment,
  inflict: async ({ fleet }, { target }) => fleet.member(target).replace(),
};
