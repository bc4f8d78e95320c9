import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { insertOne, openEpoch } from '../../test/store/rows.js';

describe('one admission pass at a time', () => {
  let opened: OpenStore;
  let epoch: string;
  beforeAll(async () => {
    opened = await openPostgresStore();
    epoch = await openEpoch(opened.store);
  });
  afterAll(() => opened.close());

  test('another pass is told that somebody has it, and can start when it is done', async () => {
    const inside = await opened.store.admissionPass(() => opened.store.admissionPass(async () => 'second'));
    expect(inside).toBe('busy-elsewhere');
    expect(await opened.store.admissionPass(async () => 'third')).toBe('third');
  });

  test('a pass that stalls is ended by the server soon, and cannot write any more', async () => {
    const { id } = await insertOne(opened.store);
    const started = performance.now();
    let takenOverMs = 0;
    const stalled = opened.store.admissionPass(async (admission) => {
      await waitUntil(
        async () => (await opened.store.admissionPass(async () => 'mine')) === 'mine',
        'another process has the pass',
      );
      takenOverMs = performance.now() - started;
      await admission.markAdmitted(epoch, [{ task: id, entry: 1 }]);
    });
    await expect(stalled).rejects.toMatchObject({ code: 'Unavailable' });
    // The limit is one second; a busy machine needs some time for the rest.
    expect(takenOverMs).toBeLessThan(4_000);
    expect((await opened.store.admissionNeeded(epoch)).lanes).toHaveLength(1);
  });
});
