import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dropKeys } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';

const points = ['epoch-drawn', 'epoch-begun', 'epoch-entered', 'epoch-opened', 'epoch-built'];

/** Stopped, as /proc tells. */
function isFrozen(pid = 0): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

/** Ends the session of whoever has the lock of the epoch; true where there was one. */
async function robOfSession(place: OutagePlace): Promise<boolean> {
  const rows = await place.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted
       AND ((classid::bigint << 32) | objid::bigint) = ns.lock_key('epoch')`,
  );
  return rows.length > 0;
}

test.concurrent.each(points)(
  'a rebuilder that stops at %s, loses its session and its turn, and goes on, does no harm',
  async (point) => {
    const ends: (() => unknown)[] = [];
    const place = await outagePlace({ onTestFinished: (end) => void ends.push(end as () => unknown) });
    try {
      const unharmed = await place.worker(['--name', 'b', '--ttl', '20s', '--concurrency', '20']);
      const armed = await place.worker(['--name', 'a', '--ttl', '20s', '--concurrency', '20'], {
        HOLDFAST_TEST_FREEZE_AT: point,
      });
      const payload = { until: place.gate };
      const held = await place.hf.dispatchMany(
        Array.from({ length: 12 }, (_, n) => ({ name: 'holds', payload, exclusive: [`r${n}`] })),
      );
      const allBegun = async (): Promise<boolean> =>
        (await place.hf.tasks.list({ state: 'running' })).tasks.filter(({ progress }) => progress.length > 0)
          .length === 12;
      await waitUntil(allBegun, 'twelve run', 60_000);
      await place.hf.dispatchMany(
        Array.from({ length: 24 }, (_, n) => ({ name: 'work', payload: {}, exclusive: [`r${n % 12}`] })),
      );
      // So that it is the other one that finds the loss.
      unharmed.child.kill('SIGSTOP');
      await dropKeys(place.namespace);
      await waitUntil(() => isFrozen(armed.child.pid), `it stops at ${point}`, 15_000);
      unharmed.child.kill('SIGCONT');
      expect(await robOfSession(place)).toBe(true);
      const canary = await place.hf.dispatch('work', {});
      await place.hf.wait(canary.id, { timeout: '15s' });
      armed.child.kill('SIGCONT');
      const another = await place.hf.dispatch('work', {});
      await place.hf.wait(another.id, { timeout: '15s' });
      expect((await place.hf.tasks.list({ state: 'running' })).tasks).toHaveLength(12);
      place.openGate();
      await place.end();
      for (const { id } of held) {
        expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', entry: 1, crashes: 0 });
      }
      for (const { stderr } of [armed, unharmed]) expect(stderr).not.toMatch(/[Uu]nhandled|fenced/);
    } finally {
      for (const end of ends) await end();
    }
  },
);
