import { moment, shortly, type FaultKind, type System } from './fault-kind.js';

export const flushAll: FaultKind = {
  name: 'flush redis',
  weight: 5,
  hits: 'everybody',
  ms: moment,
  group: 'redis',
  inflict: async ({ direct }) => void (await direct.call('FLUSHALL')),
};

export const flushScripts: FaultKind = {
  name: 'flush scripts',
  weight: 3,
  hits: 'everybody',
  ms: moment,
  group: 'redis',
  inflict: async ({ direct }) => void (await direct.call('SCRIPT', 'FLUSH')),
};

/** Saves and loads all its keys, in the same process. */
export const reload: FaultKind = {
  name: 'reload redis',
  weight: 2,
  hits: 'everybody',
  ms: moment,
  redis: 'standalone',
  group: 'redis',
  inflict: async ({ direct }) => void (await direct.call('DEBUG', 'RELOAD')),
};

/** What needs memory is refused; what gives some back must not be. */
export const outOfMemory: FaultKind = {
  name: 'redis out of memory',
  weight: 4,
  hits: 'everybody',
  ms: () => [500, 5_000],
  group: 'redis',
  inflict: async ({ direct, pause }, { ms }) => {
    await direct.call('CONFIG', 'SET', 'maxmemory', '1');
    try {
      await pause(ms);
    } finally {
      await untilDone(() => direct.call('CONFIG', 'SET', 'maxmemory', '0'));
    }
  },
};

/** Another client's script runs, and everybody else is answered BUSY. */
export const busyScript: FaultKind = {
  name: 'busy redis',
  weight: 3,
  hits: 'everybody',
  ms: () => [500, 4_000],
  group: 'redis',
  inflict: async ({ direct, pause }, { ms }) => {
    await direct.call('CONFIG', 'SET', 'busy-reply-threshold', '100');
    const spinning = direct.duplicate();
    spinning.on('error', () => {});
    const spins = spinning.call('EVAL', 'while true do end', '0').catch(() => {});
    try {
      await pause(ms);
    } finally {
      await untilDone(() => direct.call('SCRIPT', 'KILL'));
      await spins;
      spinning.disconnect();
    }
  },
};

export const restartRedisEmpty: FaultKind = {
  name: 'restart redis without its data',
  weight: 4,
  hits: 'everybody',
  ms: shortly,
  redis: 'standalone',
  group: 'redis',
  inflict: (system, { ms }) => restart(system, 'nothing', ms),
};

export const restartRedis: FaultKind = {
  name: 'restart redis with its data',
  weight: 4,
  hits: 'everybody',
  ms: shortly,
  redis: 'standalone',
  group: 'redis',
  inflict: (system, { ms }) => restart(system, 'data', ms),
};

export const failOver: FaultKind = {
  name: 'fail over redis',
  weight: 10,
  hits: 'everybody',
  ms: shortly,
  redis: 'sentinel',
  group: 'redis',
  inflict: async ({ redis, pause }, { ms }) => {
    if ('failOver' in redis) await redis.failOver(() => pause(ms));
  },
};

async function restart({ redis, pause }: System, keep: 'data' | 'nothing', ms: number): Promise<void> {
  if ('restart' in redis) await redis.restart(keep, () => pause(ms));
}

/** Another fault may break the connection meanwhile. */
async function untilDone(command: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await command();
      return;
    } catch (error) {
      if (/NOTBUSY/.test(String(error))) return;
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
