import type { Fleet } from '../fleet.js';
import type { ProcessLife } from '../history.js';
import { now } from '../clock.js';
import { aboutTheTtl, moment, shortly, withoutPostgres, type FaultKind } from './fault-kind.js';

export const freezePostgres: FaultKind = {
  name: 'freeze postgres',
  weight: 4,
  hits: 'everybody',
  ms: aboutTheTtl,
  group: 'postgres',
  inflict: async ({ postgres, fleet, pause }, { ms }) => {
    postgres.freeze();
    try {
      await withoutPostgres(running(fleet), () => pause(ms), now);
    } finally {
      postgres.thaw();
    }
  },
};

export const restartPostgresInOrder: FaultKind = {
  name: 'restart postgres in order',
  weight: 3,
  hits: 'everybody',
  ms: shortly,
  group: 'postgres',
  inflict: ({ postgres, pause }, { ms }) => postgres.restart('SIGINT', () => pause(ms)),
};

export const restartPostgresAtOnce: FaultKind = {
  name: 'restart postgres at once',
  weight: 3,
  hits: 'everybody',
  ms: shortly,
  group: 'postgres',
  inflict: ({ postgres, pause }, { ms }) => postgres.restart('SIGQUIT', () => pause(ms)),
};

export const failOverPostgres: FaultKind = {
  name: 'fail over postgres',
  weight: 8,
  hits: 'everybody',
  ms: shortly,
  postgres: 'standby',
  group: 'postgres',
  inflict: async ({ postgres, fleet, pause }, { ms }) => {
    if (!('failOver' in postgres)) return;
    const away = (outage: () => Promise<void>): Promise<void> => withoutPostgres(running(fleet), outage, now);
    await postgres.failOver(() => pause(ms), away);
  },
};

/** A third of all sessions, whoever they belong to. */
export const terminateBackends: FaultKind = {
  name: 'terminate backends',
  weight: 6,
  hits: 'everybody',
  ms: moment,
  group: 'postgres',
  inflict: async ({ pool }) => {
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.33`,
    );
  },
};

/** As an operator might who tidies up: it must fence itself, and its locks are orphans. */
export const deleteWorkerRow: FaultKind = {
  name: 'delete row of worker',
  weight: 3,
  hits: 'worker',
  ms: moment,
  inflict: async ({ pool, fleet, namespace }, { target }) => {
    const { life } = fleet.member(target);
    if (life?.incarnation == null) return;
    await pool.query(`DELETE FROM "${namespace}".workers WHERE incarnation = $1`, [life.incarnation]);
  },
};

function running({ members }: Fleet): ProcessLife[] {
  return members.flatMap(({ life }) => (life === null ? [] : [life]));
}
