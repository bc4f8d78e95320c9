import { expect, test, vi } from 'vitest';
import { faultPoints } from '../../src/fault-points.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { assertJournal } from '../helpers/journal.js';
import { sharedPostgresUrl, sharedRedisUrl } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { listedOwners, rowsLeft } from '../worker/dead-worker.js';
import { startWorker } from '../worker/test-worker.js';
import { scenarios } from './fault-scenarios.js';
import { Victim } from './victim.js';

vi.setConfig({ testTimeout: 240_000 });

const recoveryLimitMs = 60_000;

test.concurrent.each(faultPoints)(
  'a process killed at %s leaves nothing, and loses nothing',
  async (point) => {
    const scenario = scenarios[point];
    const victim = await Victim.prepare();
    const { place, expected } = victim;
    try {
      expect(await victim.dieAt(point, scenario)).toBe('SIGKILL');
      const name = scenario.recoveredBy ?? victim.name;
      const { owner, stop } = await startWorker(place, { name });
      // What it held is free for others.
      await victim.dispatch('job');
      const recovered = async (): Promise<boolean> => {
        expect(await victim.states()).toEqual([...expected.values()]);
        expect(await rowsLeft(place)).toEqual([owner.incarnation]);
        expect(await listedOwners(place)).toEqual([owner]);
        return true;
      };
      await waitUntil(recovered, 'all tasks have ended, and nothing names the dead', recoveryLimitMs);
      await stop();
      const { namespace } = place;
      await assertNothingLeft({ namespace, databaseUrl: sharedPostgresUrl(), redisUrl: sharedRedisUrl() });
      expect(await rowsLeft(place)).toEqual([]);
      assertJournal(victim.journal(), { unfinished: 'allowed' });
    } finally {
      await place.close();
    }
  },
);
