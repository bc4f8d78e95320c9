import type { TcpProxy } from '../../helpers/tcp-proxy.js';
import type { Member } from '../member.js';
import { now } from '../clock.js';
import { aboutTheTtl, moment, withoutPostgres, type FaultKind, type System } from './fault-kind.js';

/** Half-open: nothing is closed, nothing arrives. */
export const cutPostgres: FaultKind = {
  name: 'cut postgres',
  weight: 7,
  hits: 'process',
  ms: aboutTheTtl,
  group: 'link to postgres',
  inflict: async ({ fleet, pause }, { target, ms }) => {
    const { links, life } = fleet.member(target);
    await silenced([links.postgres], 'everything', () =>
      withoutPostgres(life === null ? [] : [life], () => pause(ms), now),
    );
  },
};

/** What is asked happens, and nobody hears of it. */
export const losePostgresReplies: FaultKind = {
  name: 'lose replies of postgres',
  weight: 6,
  hits: 'process',
  ms: aboutTheTtl,
  group: 'link to postgres',
  inflict: async ({ fleet, pause }, { target, ms }) => {
    const { links, life } = fleet.member(target);
    await silenced([links.postgres], 'replies', () =>
      withoutPostgres(life === null ? [] : [life], () => pause(ms), now),
    );
  },
};

export const cutRedis: FaultKind = {
  name: 'cut redis',
  weight: 6,
  hits: 'process',
  ms: aboutTheTtl,
  group: 'link to redis',
  inflict: (system, fault) =>
    silenced(member(system, fault).links.redis, 'everything', () => system.pause(fault.ms)),
};

export const loseRedisReplies: FaultKind = {
  name: 'lose replies of redis',
  weight: 6,
  hits: 'process',
  ms: aboutTheTtl,
  group: 'link to redis',
  inflict: (system, fault) =>
    silenced(member(system, fault).links.redis, 'replies', () => system.pause(fault.ms)),
};

export const resetLinks: FaultKind = {
  name: 'reset connections',
  weight: 6,
  hits: 'process',
  ms: moment,
  inflict: async ({ fleet }, { target }) => {
    const { postgres, redis } = fleet.member(target).links;
    for (const proxy of [postgres, ...redis]) proxy.reset();
  },
};

export const slowLinks: FaultKind = {
  name: 'slow network',
  weight: 5,
  hits: 'process',
  ms: () => [1_000, 8_000],
  group: 'frozen',
  inflict: async ({ fleet, pause }, { target, ms }) => {
    const { postgres, redis } = fleet.member(target).links;
    const latency = (late: number): void => {
      for (const proxy of [postgres, ...redis]) proxy.latency(late);
    };
    latency(150);
    try {
      await pause(ms);
    } finally {
      latency(0);
    }
  },
};

function member({ fleet }: System, { target }: { target: string }): Member {
  return fleet.member(target);
}

async function silenced(
  proxies: TcpProxy[],
  what: 'everything' | 'replies',
  meanwhile: () => Promise<void>,
): Promise<void> {
  for (const proxy of proxies) proxy.silence(what);
  try {
    await meanwhile();
  } finally {
    for (const proxy of proxies) proxy.heal();
  }
}
