import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import { waitUntil } from '../../test/helpers/wait-until.js';

/** What both adapters of the database port answer alike. */
export function databaseConformance(open: () => Promise<OpenStore>): void {
  describe('the database', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    async function one(text: string, values?: unknown[]): Promise<Record<string, unknown> | undefined> {
      const { rows } = await opened.database.query(text, values);
      return rows[0];
    }

    test('values come alike', async () => {
      const row = await one(`
        SELECT 9007199254740993::bigint AS int8, 7::integer AS int4, 3::smallint AS int2, true AS bool,
          '{"a":[1,"\\u00e9"]}'::jsonb AS jsonb, '["x"]'::json AS json, ARRAY['a','b,"\\', NULL, '']::text[] AS texts,
          ARRAY[1,2]::integer[] AS ints, '{}'::text[] AS none, NULL::text[] AS missing,
          '2026-03-29 02:30:00.123456+05:30'::timestamptz AS at, '01a22ad2-8d09-759f-b244-13f664336186'::uuid AS id`);
      expect(row).toEqual({
        ...{ int8: '9007199254740993', int4: 7, int2: 3, bool: true, jsonb: { a: [1, 'é'] }, json: ['x'] },
        ...{ texts: ['a', 'b,"\\', null, ''], ints: [1, 2], none: [], missing: null },
        ...{ at: '2026-03-28T21:00:00.123Z', id: '01a22ad2-8d09-759f-b244-13f664336186' },
      });
    });

    test('values are sent alike', async () => {
      const texts = ['', 'a b', '"q"', '\\', '{}', ',', 'NULL', null, '😀', "'"];
      const uuids = ['01a22ad2-8d09-759f-b244-13f664336186'];
      const row = await one(
        `SELECT $1::text[] AS texts, $2::uuid[] AS uuids, $3::bigint[]::text[] AS bigints, $4::text::jsonb AS json,
          $5::boolean AS bool, $6::bigint AS big, $7::integer[] AS ints, $8::text AS missing, $9::text[] AS none`,
        [
          texts,
          uuids,
          ['1', '9007199254740993'],
          '{"a":"\\\\"}',
          false,
          '9007199254740993',
          [1, -2],
          null,
          [],
        ],
      );
      expect(row).toEqual({
        ...{ texts, uuids, bigints: ['1', '9007199254740993'], json: { a: '\\' }, bool: false },
        ...{ big: '9007199254740993', ints: [1, -2], missing: null, none: [] },
      });
    });

    test('without values, several statements run and the last one answers', async () => {
      expect(await one('SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c')).toEqual({ c: 3 });
    });

    test.each(['53100', '58030', '57P01', '40P01'])(
      'an outage with SQLSTATE %s is Unavailable',
      async (state) => {
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '${state}'; END $$`;
        const unavailable = { code: 'Unavailable', message: 'PostgreSQL is not available: not now' };
        await expect(opened.database.query(raise)).rejects.toMatchObject(unavailable);
        const inTransaction = opened.database.transaction((queryable) => queryable.query(raise, []));
        await expect(inTransaction).rejects.toMatchObject(unavailable);
        expect(await one('SELECT 1 AS alive')).toEqual({ alive: 1 });
      },
    );

    test('an error of the server comes with its SQLSTATE, and the database goes on', async () => {
      await expect(one('SELECT 1/0')).rejects.toMatchObject({ code: '22012' });
      await expect(one('SELECT $1::integer', ['x'])).rejects.toMatchObject({ code: '22P02' });
      expect(await one('SELECT 1 AS a', [])).toEqual({ a: 1 });
    });

    test('a transaction is READ COMMITTED and commits what it did', async () => {
      const { database } = opened;
      const isolation = await database.transaction(async (queryable) => {
        await queryable.query(`CREATE TABLE "${opened.namespace}".probe (a integer)`);
        const { rows } = await queryable.query<{ isolation: string }>(
          "SELECT current_setting('transaction_isolation') AS isolation",
        );
        return rows[0]?.isolation;
      });
      expect(isolation).toBe('read committed');
      expect(await one(`SELECT count(*) AS rows FROM "${opened.namespace}".probe`)).toEqual({ rows: '0' });
    });

    test('a transaction that throws is rolled back and throws the same', async () => {
      const { database, namespace } = opened;
      const error = new Error('mine');
      const failing = database.transaction(async (queryable) => {
        await queryable.query(`CREATE TABLE "${namespace}".never (a integer)`);
        throw error;
      });
      await expect(failing).rejects.toBe(error);
      expect(await one(`SELECT to_regclass('"${namespace}".never') AS found`)).toEqual({ found: null });
    });

    test('a transaction that swallows the error of a statement does not pass for committed', async () => {
      const swallowing = opened.database.transaction(async (queryable) => {
        await queryable.query('SELECT 1/0').catch(() => {});
        return 'done';
      });
      await expect(swallowing).rejects.toThrow();
      expect(await one('SELECT 1 AS a')).toEqual({ a: 1 });
    });

    test('calls made at once are all answered, each with its own', async () => {
      const calls = Array.from({ length: 50 }, (_, index) => one('SELECT $1::integer AS a', [index]));
      expect(await Promise.all(calls)).toEqual(Array.from({ length: 50 }, (_, index) => ({ a: index })));
    });

    test('a listener hears the NOTIFY of its channel, once committed, until it stops', async () => {
      const { store, database, namespace } = opened;
      let heard = 0;
      const stop = await database.listen(namespace, () => (heard += 1));
      await database.query(`SELECT pg_notify('other', '')`);
      await database.query(`SELECT pg_notify('${namespace}', '')`);
      await waitUntil(() => heard === 1, 'the notification is heard');
      await database
        .transaction(async (queryable) => {
          await queryable.query(`SELECT pg_notify('${namespace}', '')`);
          throw new Error('no');
        })
        .catch(() => {});
      await store.insertTasks([], { notify: true });
      await database.transaction((queryable) => queryable.query(`SELECT pg_notify('${namespace}', '')`));
      await waitUntil(() => heard === 2, 'the notification of the transaction is heard');
      await stop();
      await stop();
      await database.query(`SELECT pg_notify('${namespace}', '')`);
      await database.query('SELECT 1');
      expect(heard).toBe(2);
    });
  });
}
