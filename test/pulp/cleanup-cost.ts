import { once } from 'node:events';
import { cleanupLocksForOwner } from '../../src/pulp/cleanup-locks-for-owner.js';
import { cleanupLocksForWorker } from '../../src/pulp/cleanup-locks-for-worker.js';
import { LegacyScan } from '../../src/pulp/legacy-scan.js';
import { reconcileOrphanLocks } from '../../src/pulp/reconcile-orphan-locks.js';
import { releaseStaleLocksForSelf } from '../../src/pulp/release-stale-locks-for-self.js';
import type { TestPulp } from './test-pulp.js';

export interface Cost {
  /** By command, those inside scripts as well. */
  commands: Record<string, number>;
  /** The keys that any command named, in order and once each. */
  keys: string[];
}

/**
 * By path: what it costs to clean up after a dead owner with 5 locks, of the same names each time. Of the others
 * none is listed, since to reconcile is to look at each owner that is.
 */
export async function costsOfCleanUp(test: TestPulp): Promise<Record<string, Cost>> {
  const pulp = await test.open();
  const paths = {
    'cleanupLocksForOwner, not allowed to scan': () => cleanupLocksForOwner(pulp, 'dead'),
    'cleanupLocksForOwner, allowed to scan': () =>
      cleanupLocksForOwner(pulp, 'dead', new LegacyScan(pulp, (owner) => owner === 'dead')),
    cleanupLocksForWorker: () => cleanupLocksForWorker(pulp, 'dead'),
    releaseStaleLocksForSelf: () => releaseStaleLocksForSelf(pulp, { name: 'dead' }, true),
    reconcileOrphanLocks: () => reconcileOrphanLocks(pulp),
  };
  await test.redis.del('pulp:active_owners');
  // The scripts are known from the first run on.
  await cleanupLocksForOwner(pulp, 'dead');
  await test.takes('dead', { task: 't1' });
  await cleanupLocksForOwner(pulp, 'dead');
  const costs: Record<string, Cost> = {};
  for (const [path, run] of Object.entries(paths)) {
    await test.takes('dead', { task: 't1', exclusive: ['a', 'b'], shared: ['c', 'd'] });
    costs[path] = await costOf(test, run);
    if (await test.redis.exists('pulp:owner_locks:dead')) throw new Error(`${path} left locks.`);
  }
  return costs;
}

/** What a scan for one owner costs: the control, which must be seen to grow. */
export async function costOfScan(test: TestPulp): Promise<Record<string, number>> {
  const pulp = await test.open();
  await test.redis.del('pulp:last_legacy_owner_scan');
  await test.takesUnregistered('old', { exclusive: ['old'] });
  await test.resetCommands();
  await cleanupLocksForOwner(pulp, 'old', new LegacyScan(pulp, (owner) => owner === 'old'));
  return await test.commands();
}

async function costOf(test: TestPulp, run: () => Promise<unknown>): Promise<Cost> {
  const keys = new Set<string>();
  const monitor = await test.redis.monitor();
  let seen = (_text: string): void => {};
  monitor.on('monitor', (_time: string, words: string[]) => {
    for (const word of words) if (/^(task|pulp):/.test(word)) keys.add(word);
    if (words[0]?.toLowerCase() === 'echo') seen(words[1] ?? '');
  });
  try {
    await test.resetCommands();
    await run();
    const commands = await test.commands();
    const drained = new Promise<void>((resolve) => (seen = (text) => text === 'drained' && resolve()));
    await test.redis.echo('drained');
    await drained;
    return { commands, keys: [...keys].sort() };
  } finally {
    const closed = once(monitor, 'end');
    monitor.disconnect();
    await closed;
  }
}
