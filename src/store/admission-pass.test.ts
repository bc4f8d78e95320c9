import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { insertOne, openEpoch } from '../../test/store/rows.js';
import { openSession } from '../../test/store/session.js';

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

  test('what comes while a pass is under way waits for the next one, with what came before it in a lane of its own', async () => {
    const { store } = opened;
    const insert = async (name: string): Promise<string> => (await insertOne(store, { name })).id;
    const one = await insert('listed');
    const late: string[] = [];
    const inPass = await store.admissionPass(async (admission) => {
      const lanes = await admission.lanesToAdmit(epoch);
      late.push(await insert('not listed'), await insert('listed'));
      return admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 10 });
    });
    expect(inPass).toMatchObject([{ id: one }]);
    const next = await store.admissionPass(async (admission) => {
      const lanes = await admission.lanesToAdmit(epoch);
      return admission.tasksToAdmit({ epoch, lanes, afterPlace: '0', limit: 10 });
    });
    expect(next).toMatchObject([one, ...late].map((id) => ({ id })));
    for (const id of [one, ...late]) await store.cancelTask(id);
  });

  test('what somebody is changing is not taken out of a lane, and nobody waits for it', async () => {
    const { store, database, namespace } = opened;
    const { id } = await insertOne(store);
    const [lane = ''] = (await store.admissionNeeded(epoch)).lanes;
    await store.admissionPass((admission) => admission.markAdmitted(epoch, [{ task: id, entry: 1 }]));
    const takeOut = (): Promise<unknown> =>
      store.admissionPass((admission) => admission.takeOutUnserved({ epoch, lanes: [lane], limit: 10 }));
    const other = await openSession();
    await other.query('BEGIN');
    await other.query(`SELECT FROM "${namespace}".tasks WHERE id = $1 FOR NO KEY UPDATE`, [id]);
    expect(await takeOut()).toBe(0);
    await other.close();
    await expect.poll(takeOut).toBe(1);
    await database.query(`DELETE FROM "${namespace}".tasks WHERE id = $1`, [id]);
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
