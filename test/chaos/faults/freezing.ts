import { aboutTheTtl, type FaultKind } from './fault-kind.js';

/** SIGSTOP … SIGCONT of a process, not of its children. By chance it admits, observes or cleans up. */
export const freezeProcess: FaultKind = {
  name: 'freeze process',
  weight: 14,
  hits: 'process',
  ms: aboutTheTtl,
  group: 'frozen',
  inflict: ({ fleet, pause }, { target, ms }) => fleet.member(target).freeze(() => pause(ms)),
};

export const freezeRedis: FaultKind = {
  name: 'freeze redis',
  weight: 4,
  hits: 'everybody',
  ms: aboutTheTtl,
  group: 'redis',
  inflict: async ({ redis, pause }, { ms }) => {
    await redis.freeze();
    try {
      await pause(ms);
    } finally {
      redis.thaw();
    }
  },
};
