import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Queryable } from '../../store/database.js';
import { openPglite } from '../../../test/store/open-pglite.js';
import { uniqueNamespace } from '../../../test/helpers/servers.js';
import { openSession, untilCallsWait, type Session } from '../../../test/store/session.js';
import { fenceText } from '../../fence.js';
import { createFenceTable, guardWrite } from './guard-write.js';

const fence = (number: number): string => fenceText('1', String(number));

/** A session whose tables are in a schema of its own, as the transaction of a user. */
async function openUser(schema: string): Promise<{ tx: Queryable; session: Session }> {
  const session = await openSession();
  await session.query(`SET search_path TO "${schema}"`);
  const query = async (text: string, values?: unknown[]): Promise<{ rows: never[] }> => ({
    rows: (await session.query(text, values)) as never[],
  });
  return { tx: { query }, session };
}

describe('guardWrite', () => {
  const schema = uniqueNamespace();
  let early: Awaited<ReturnType<typeof openUser>>;
  let late: Awaited<ReturnType<typeof openUser>>;
  let resource = '';
  let resources = 0;

  beforeAll(async () => {
    early = await openUser(schema);
    late = await openUser(schema);
    await early.session.query(`CREATE SCHEMA "${schema}"`);
  });
  afterAll(async () => {
    await early.session.query(`DROP SCHEMA "${schema}" CASCADE`);
    await Promise.all([early.session.close(), late.session.close()]);
  });

  function nextResource(): string {
    resource = `repo:${(resources += 1)}`;
    return resource;
  }

  test('its table may be created by many at one time, and again', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => openUser(schema)));
    await Promise.all(users.map(({ tx }) => createFenceTable(tx)));
    await Promise.all(users.map(({ session }) => session.close()));
    await createFenceTable(early.tx);
    expect(await early.session.query('SELECT * FROM holdfast_fences')).toEqual([]);
  });

  test('refuses the write of an earlier holder once a later one has written', async () => {
    const exclusive = [nextResource()];
    await guardWrite(early.tx, { exclusive, fence: fence(7) });
    await guardWrite(early.tx, { exclusive, fence: fence(7) });
    await guardWrite(late.tx, { exclusive, fence: fence(8) });
    await expect(guardWrite(early.tx, { exclusive, fence: fence(7) })).rejects.toMatchObject({
      code: 'Fenced',
      message: expect.stringContaining(JSON.stringify(resource)) as string,
    });
    // One of a later epoch is later, whatever its counter.
    await guardWrite(late.tx, { exclusive, fence: fenceText('2', '1') });
    await expect(guardWrite(early.tx, { exclusive, fence: fence(9) })).rejects.toMatchObject({
      code: 'Fenced',
    });
  });

  test('lets every combination of holders write that can be, and no other', async () => {
    const holders = fc.array(fc.constantFrom('exclusive', 'shared'), { minLength: 1, maxLength: 6 });
    const writes = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(holders, writes, async (modes, order) => {
        const name = nextResource();
        const written: number[] = [];
        for (const holder of order.filter((index) => index < modes.length)) {
          // Later holders of the other mode, or of the same where that is exclusive, can never hold it beside this one.
          const isLate = written.some(
            (other) => other > holder && (modes[other] === 'exclusive' || modes[holder] === 'exclusive'),
          );
          const write = { [modes[holder] ?? 'shared']: [name], fence: fence(holder) };
          const answer = await guardWrite(early.tx, write).then(
            () => 'written',
            (error: { code: string }) => error.code,
          );
          expect(answer).toBe(isLate ? 'Fenced' : 'written');
          if (!isLate) written.push(holder);
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each(['COMMIT', 'ROLLBACK'])('waits for a later holder whose write is under way: %s', async (end) => {
    const exclusive = [nextResource()];
    await guardWrite(early.tx, { exclusive, fence: fence(1) });
    await late.session.query('BEGIN');
    await guardWrite(late.tx, { exclusive, fence: fence(2) });
    const answer = guardWrite(early.tx, { exclusive, fence: fence(1) }).then(
      () => 'written',
      (error: { code: string }) => error.code,
    );
    const watch = await openSession();
    await untilCallsWait(watch, 'INSERT INTO holdfast_fences');
    await late.session.query(end);
    expect(await answer).toBe(end === 'COMMIT' ? 'Fenced' : 'written');
    await watch.close();
  });

  test('two writers never wait for each other in a circle, whichever way they name the resources', async () => {
    const [other, watch] = [await openUser(schema), await openSession()];
    // Who of the two goes on first when the third commits is for the server to choose.
    for (let round = 0; round < 10; round += 1) {
      const [first, second] = [nextResource(), nextResource()];
      await late.session.query('BEGIN');
      await guardWrite(late.tx, { shared: [first], fence: fence(1) });
      const one = guardWrite(early.tx, { exclusive: [first], shared: [second], fence: fence(2) });
      await untilCallsWait(watch, 'INSERT INTO holdfast_fences');
      const two = guardWrite(other.tx, { exclusive: [second], shared: [first], fence: fence(3) });
      await untilCallsWait(watch, 'INSERT INTO holdfast_fences', 2);
      await late.session.query('COMMIT');
      for (const answer of await Promise.allSettled([one, two])) {
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'Fenced' });
      }
    }
    await Promise.all([other.session.close(), watch.close()]);
  });

  test('of several resources refuses all where one is refused, once the transaction is rolled back', async () => {
    const [first, second] = [nextResource(), nextResource()];
    await guardWrite(late.tx, { exclusive: [second], fence: fence(5) });
    await early.session.query('BEGIN');
    const write = { exclusive: [first], shared: [second], fence: fence(4) };
    await expect(guardWrite(early.tx, write)).rejects.toMatchObject({ code: 'Fenced' });
    await early.session.query('ROLLBACK');
    await guardWrite(late.tx, { exclusive: [first], fence: fence(3) });
  });

  test.each([
    [{ exclusive: ['a'] }, 'fence'],
    [{ exclusive: ['a'], fence: '7' }, 'fence'],
    [{ exclusive: ['a'], fence: 7 }, 'fence'],
    [{ fence: fence(1) }, 'resource'],
    [{ exclusive: [''], fence: fence(1) }, 'empty'],
    [{ exclusive: ['a'], fence: fence(1), fences: 1 }, 'fences'],
    [null, 'object'],
  ])('takes no %j', async (write, why) => {
    await expect(guardWrite(early.tx, write as never)).rejects.toMatchObject({
      code: 'InvalidTask',
      message: expect.stringContaining(why) as string,
    });
  });

  test('takes nothing but a transaction', async () => {
    const write = { exclusive: ['a'], fence: fence(1) };
    await expect(guardWrite(undefined as never, write)).rejects.toMatchObject({ code: 'InvalidTask' });
    await expect(createFenceTable({} as never)).rejects.toMatchObject({ code: 'InvalidTask' });
  });

  test('works in PGlite too', async () => {
    const database = await openPglite();
    await createFenceTable(database);
    await guardWrite(database, { exclusive: ['repo:7'], shared: ['store'], fence: fence(2) });
    const early = database.transaction((tx) => guardWrite(tx, { exclusive: ['store'], fence: fence(1) }));
    await expect(early).rejects.toMatchObject({ code: 'Fenced' });
    await database.close();
  });
});
