import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Redis } from 'ioredis';
import { sharedRedisUrl } from '../../../test/helpers/servers.js';
import { ada, bob, epoch, hold, lane } from '../conformance/harness.conformance.js';
import { brokenInvariants } from '../invariants.js';
import type { LockTable } from '../lock-table.js';
import type { TableDump } from '../table-dump.js';
import { dieAtWrite, dyingSource, scriptNames, writeCommands } from './dying-scripts.conformance.js';
import { scenarios, type Scenario } from './half-executed-scenarios.conformance.js';
import { openRedis, type OpenRedisTable } from './open-redis.conformance.js';
import { scriptSource } from './script-source.js';

/** More writes than any of the calls has. */
const mostWrites = 200;
let writes: string[];
let pair: Pair | undefined;

/** Two tables in one namespace: the scripts of the second die where it is told. */
interface Pair {
  living: OpenRedisTable;
  dying: OpenRedisTable;
}

beforeAll(async () => {
  const redis = new Redis(sharedRedisUrl());
  writes = await writeCommands(redis);
  redis.disconnect();
});

afterEach(async () => {
  await pair?.dying.close();
  await pair?.living.close();
  pair = undefined;
});

async function openPair({ promotionLimit = 250 }: Scenario): Promise<Pair> {
  const options = { url: sharedRedisUrl(), promotionLimit };
  const living = await openRedis(options);
  const dying = await openRedis({
    ...options,
    namespace: living.namespace,
    sourceOf: dyingSource(writes),
  });
  return (pair = { living, dying });
}

/** Where the call starts. */
async function setUp({ living }: Pair, scenario: Scenario): Promise<void> {
  await living.clear();
  await living.table.beginEpoch(epoch, 1);
  await living.table.openEpoch(epoch);
  for (const owner of [ada, bob]) await living.table.listOwner(epoch, owner);
  await scenario.setUp(
    living.table,
    (task) => living.forgeEntering(epoch, task),
    (task) => living.forgeLoss(epoch, { hold: task }),
  );
}

/** Runs the call up to that write. Whether it died: it lives when it has fewer writes. */
async function diesAt({ dying }: Pair, scenario: Scenario, write: number): Promise<boolean> {
  const { redis, namespace, table } = dying;
  await dieAtWrite(redis, namespace, write);
  // Its one caller is never told of a failure.
  const isSilent = scenario.script === 'wake' && write === 0;
  const died = await scenario.step(table).then(
    () => isSilent,
    () => true,
  );
  await dieAtWrite(redis, namespace, null);
  return died;
}

/** Returns how many deaths there are. */
async function inEveryDeath(
  pair: Pair,
  scenario: Scenario,
  then: (before: TableDump) => Promise<void>,
): Promise<number> {
  for (let write = 0; write < mostWrites; write++) {
    await setUp(pair, scenario);
    const before = await pair.living.dump(epoch);
    if (!(await diesAt(pair, scenario, write))) return write;
    await then(before);
  }
  throw new Error('The call has no end.');
}

const epochOf = (scenario: Scenario): string => {
  return scenario.script === 'enter-building' || scenario.script.endsWith('-epoch') ? '8' : epoch;
};

/** What must be equal: not the counters, which a death leaves with gaps, nor wake-ups, which are hints. */
function comparable(dump: TableDump): unknown {
  const orders = dump.holds.map(({ order }) => order).sort((a, b) => a - b);
  const rank = (order: number): number => orders.indexOf(order);
  return {
    ...dump,
    counters: null,
    wakeUps: null,
    // Given back and claimed again, a hold has another entry and a later fence.
    holds: dump.holds.map((one) => {
      return { ...one, order: rank(one.order), entry: 0, fence: one.fence === null ? null : 'a fence' };
    }),
    queues: dump.queues.map(({ resource, waiters }) => {
      return { resource, waiters: waiters.map((one) => ({ ...one, order: rank(one.order) })) };
    }),
  };
}

/** G4: holds that the clean-up of their owner would not find. */
function unregistered({ holds, registries }: TableDump): string[] {
  const registered = new Set(
    registries.flatMap(({ owner, tasks }) => tasks.map((task) => `${owner} ${task}`)),
  );
  const owned = holds.filter(({ owner }) => owner !== null);
  return owned.map(({ task, owner }) => `${owner} ${task}`).filter((one) => !registered.has(one));
}

/** Lanes that those who know the version before would not be told of. */
function untoldLanes(before: TableDump, after: TableDump): string[] {
  if (after.counters.lanesVersion !== before.counters.lanesVersion) return [];
  return after.lanes.filter((each) => !before.lanes.includes(each));
}

describe.each(scenarios)('$script dies at any write: $name', (scenario) => {
  const dump = ({ living }: Pick<Pair, 'living'>): Promise<TableDump> => living.dump(epochOf(scenario));
  const repair = (table: LockTable): Promise<unknown> => (scenario.repair ?? scenario.step)(table);
  /** A call that died promoted fewer waiters than its budget, so a repaired table may be further on. */
  const finish = async ({ living }: Pair): Promise<unknown> => {
    if (scenario.promotionLimit) while ((await living.table.continuePromotions(epoch)) > 0);
    return comparable(await dump({ living }));
  };
  const cleanRun = async (pair: Pair): Promise<unknown> => {
    await setUp(pair, scenario);
    await scenario.step(pair.living.table);
    return finish(pair);
  };

  test('repaired, the table is as if it had lived', async () => {
    const pair = await openPair(scenario);
    const wanted = await cleanRun(pair);
    const deaths = await inEveryDeath(pair, scenario, async () => {
      await repair(pair.living.table);
      expect(await finish(pair)).toEqual(wanted);
    });
    expect(deaths).toBeGreaterThan(0);
  });

  test('a repair that dies as well is repaired by the next', async () => {
    const pair = await openPair(scenario);
    const { redis, namespace, table } = pair.dying;
    const wanted = await cleanRun(pair);
    let nth = 0;
    await inEveryDeath(pair, scenario, async () => {
      await dieAtWrite(redis, namespace, (nth++ * 7) % 11);
      await repair(table).catch(() => {});
      await dieAtWrite(redis, namespace, null);
      await repair(pair.living.table);
      expect(await finish(pair)).toEqual(wanted);
    });
  });

  test('before the repair nothing is granted twice, after it nothing is lost', async () => {
    if (epochOf(scenario) !== epoch) return;
    const pair = await openPair(scenario);
    const { table } = pair.living;
    const expectNothingTwice = async (): Promise<void> => {
      const now = await dump(pair);
      expect(brokenInvariants(now, { unrepaired: true })).toEqual([]);
      expect(unregistered(now)).toEqual([]);
    };
    await inEveryDeath(pair, scenario, async (before) => {
      await expectNothingTwice();
      expect(untoldLanes(before, await dump(pair))).toEqual([]);
      await comeBetween(table, expectNothingTwice);
      await repair(table);
      await drain(table);
      const left = await dump(pair);
      expect(brokenInvariants(left)).toEqual([]);
      expect([left.holds, left.locks, left.queues]).toEqual([[], [], []]);
    });
  });
});

const lanes = [lane, 'another lane'];

/** Others enter, claim and release as if nothing had happened. */
async function comeBetween(table: LockTable, check: () => Promise<void>): Promise<void> {
  await table.enter(epoch, '1', [
    hold('u1', { exclusive: ['a'] }),
    hold('u2', { shared: ['a', 'b', 'c', 'd'] }),
  ]);
  await check();
  const answer = await table.claim(epoch, { owner: bob, lanes, limit: 100, lanesVersion: null });
  if (answer === 'unlisted') return;
  await check();
  await table.release(
    epoch,
    answer.holds.map(({ task, entry }) => ({ task, entry, owner: bob })),
  );
  await check();
}

/** Runs everything to its end. */
async function drain(table: LockTable): Promise<void> {
  await table.listOwner(epoch, bob);
  for (let round = 0; round < 20; round++) {
    await table.claim(epoch, { owner: bob, lanes, limit: 100, lanesVersion: null });
    for (const owner of [ada, bob]) {
      const registry = await table.readRegistry(epoch, owner, { after: null, limit: 100 });
      await table.release(
        epoch,
        registry.map(({ task, entry }) => ({ task, entry: entry ?? 0, owner })),
      );
    }
  }
}

test('every script that writes has a call that dies', () => {
  const thatWrite = scriptNames().filter((name) => !scriptSource(name).startsWith('#!lua flags=no-writes'));
  expect(new Set(scenarios.map(({ script }) => script))).toEqual(new Set(thatWrite));
});
