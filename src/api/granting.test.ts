import { expect, test } from 'vitest';
import type { TaskRow } from '../store/store.js';
import { KnownHolds } from '../worker/known-holds.js';
import { AdHocLocks } from './ad-hoc-locks.js';

test('a lock that was claimed is not given to a process whose time has passed unnoticed', async () => {
  let asked = '';
  let alive = false;
  const discarded: unknown[] = [];
  const locks = new AdHocLocks({
    inserts: {
      insertRunning: () => Promise.reject(new Error('not asked for')),
      request: async ({ id }) => {
        asked = id;
        return { status: 'requested' };
      },
    },
    discarding: { add: (discards) => discarded.push(...discards) },
    known: new KnownHolds(),
    mayAct: () => alive,
    refuseDeadlock: async () => {},
    wakeAdmission: () => {},
    wakeClaiming: () => {},
  });
  const acquire = { exclusive: ['r'], shared: [], waitMs: 500, signal: undefined, asker: null };
  const late = expect(locks.acquire(acquire)).rejects.toMatchObject({ code: 'LockTimeout' });
  locks.granted([{ id: asked, exclusive: ['r'], shared: [], fence: '1' } as unknown as TaskRow]);
  await late;
  alive = true;
  const granted = locks.acquire(acquire);
  locks.granted([{ id: asked, exclusive: ['r'], shared: [], fence: '1' } as unknown as TaskRow]);
  expect(await granted).toMatchObject({ id: asked, fence: '1' });
  expect(locks.waiting).toBe(0);
});
