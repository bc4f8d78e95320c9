import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';

const running = { worker: `1`, worker_name: `'w'`, fence: `'1'`, started_at: `now()`, attempt: `1` };
const rollingBack = {
  ...{ state: `'rolling_back'`, attempt: `1`, outcome: `'canceled'`, rollback_until: `now()` },
};

/** Rows that no state machine leads to. SQL literals by column; the columns left out have their defaults. */
const illegal: [string, Record<string, string>][] = [
  ['an unknown state', { state: `'sleeping'` }],
  ['waiting with a worker', { worker: `1`, worker_name: `'w'`, fence: `'1'` }],
  ['waiting with a start', { started_at: `now()` }],
  ['waiting and finished', { finished_at: `now()` }],
  ['waiting with a result', { result: `'1'` }],
  ['waiting for no time', { due: `false` }],
  ['running without a worker', { ...running, state: `'running'`, worker: `NULL`, worker_name: `NULL` }],
  ['running without a fence', { ...running, state: `'running'`, fence: `NULL` }],
  ['running without a start', { ...running, state: `'running'`, started_at: `NULL` }],
  ['running and finished', { ...running, state: `'running'`, finished_at: `now()` }],
  ['running in no attempt', { ...running, state: `'running'`, attempt: `0` }],
  ['running before its time', { ...running, state: `'running'`, due: `false`, run_at: `now()` }],
  ['canceling without a worker', { state: `'canceling'` }],
  ['a worker without a name', { ...running, state: `'running'`, worker_name: `NULL` }],
  ['rolling back with a worker and no fence', { state: `'rolling_back'`, worker: `1`, worker_name: `'w'` }],
  ['rolling back without an outcome', { state: `'rolling_back'`, attempt: `1` }],
  ['rolling back without a limit', { ...rollingBack, rollback_until: `NULL` }],
  ['rolling back to an outcome that nobody knows', { ...rollingBack, outcome: `'completed'` }],
  ['rolling back to a failure without an error', { ...rollingBack, outcome: `'failed'` }],
  ['rolling back to a cancel after a delay', { ...rollingBack, outcome_delay_ms: `1` }],
  ['rolling back by nobody since a moment', { ...rollingBack, rollback_started_at: `now()` }],
  ['rolling back by somebody since no moment', { ...running, ...rollingBack }],
  ['an outcome that waits for nothing', { ...rollingBack, state: `'waiting'` }],
  [
    'completed with a roll-back that failed',
    { ...running, state: `'completed'`, finished_at: `now()`, rollback_error: `'{}'` },
  ],
  ['completed and not finished', { ...running, state: `'completed'` }],
  ['completed with an error', { ...running, state: `'completed'`, finished_at: `now()`, error: `'{}'` }],
  ['failed without an error', { ...running, state: `'failed'`, finished_at: `now()` }],
  [
    'failed with a result',
    { ...running, state: `'failed'`, finished_at: `now()`, error: `'{}'`, result: `'1'` },
  ],
  ['canceled and not finished', { state: `'canceled'` }],
  ['entry 0', { entry: `0` }],
  ['a negative attempt', { attempt: `-1` }],
  ['a negative number of crashes', { crashes: `-1` }],
  ['place 0', { place: `0` }],
  ['an epoch that is none', { admitted_epoch: `-2` }],
  ['a time that is no date', { run_at: `'infinity'` }],
  ['no name', { name: `''` }],
  ['a name beyond 1 KiB', { name: `repeat('n', 1025)` }],
  ['a queue beyond 1 KiB', { queue: `repeat('q', 1025)` }],
  ['a lane beyond what an index holds', { needs: `jsonb_build_object('a', repeat('x', 2500))` }],
  [
    'more than 1,000 resources',
    { exclusive: `array_fill('r'::text, ARRAY[600])`, shared: `array_fill('s'::text, ARRAY[401])` },
  ],
];

const legal: [string, Record<string, string>][] = [
  ['waiting', {}],
  ['scheduled', { due: `false`, run_at: `now()` }],
  ['running', { ...running, state: `'running'` }],
  ['rolling back, claimed by nobody', rollingBack],
  ['rolling back, claimed', { ...running, ...rollingBack, rollback_started_at: `now()` }],
  ['rolling back to a retry', { ...rollingBack, outcome: `'retry'`, outcome_delay_ms: `1` }],
  ['completed', { ...running, state: `'completed'`, finished_at: `now()`, result: `'1'` }],
  ['failed', { ...running, state: `'failed'`, finished_at: `now()`, error: `'{}'` }],
  ['canceled before it ran', { state: `'canceled'`, finished_at: `now()` }],
];

/** The table refuses what only a bug, or a hand, would write. */
export function constraintsConformance(open: () => Promise<OpenStore>): void {
  describe('the table of tasks', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    async function insert(columns: Record<string, string>): Promise<void> {
      const row = { name: `'a'`, payload: `'null'`, ...columns };
      const [names, values] = [Object.keys(row).join(', '), Object.values(row).join(', ')];
      await opened.database.query(`INSERT INTO "${opened.namespace}".tasks (${names}) VALUES (${values})`);
    }

    test.each(legal)('takes a task that is %s', async (_, columns) => {
      await insert(columns);
    });

    test.each(illegal)('refuses %s', async (_, columns) => {
      await expect(insert(columns)).rejects.toMatchObject({ code: '23514' });
    });

    test('refuses a second namespace row', async () => {
      const text = `INSERT INTO "${opened.namespace}".namespace DEFAULT VALUES`;
      await expect(opened.database.query(text)).rejects.toMatchObject({ code: '23505' });
    });
  });
}
