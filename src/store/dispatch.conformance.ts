import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import fc from 'fast-check';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { mustGet } from '../../test/store/rows.js';
import { normalizeResources } from '../resources.js';

/** The function that dispatches from plain SQL. */
export function dispatchConformance(open: () => Promise<OpenStore>): void {
  describe('dispatch() in SQL', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    async function dispatch(args: string, values: unknown[] = []): Promise<string> {
      const text = `SELECT "${opened.namespace}".dispatch(${args}) AS id`;
      const { rows } = await opened.database.query<{ id: string }>(text, values);
      return rows[0]?.id ?? '';
    }

    test('name and payload are enough', async () => {
      const id = await dispatch(`'repo.sync', '{"repo":7}'::jsonb`);
      const row = await mustGet(opened.store, id);
      expect(row).toMatchObject({
        ...{ id, name: 'repo.sync', payload: { repo: 7 }, queue: 'default', state: 'waiting', entry: 1 },
        ...{ exclusive: [], shared: [], priority: 0, policies: null, runAt: null, parent: null },
      });
      expect(JSON.parse(row.lane)).toEqual(['default', 'repo.sync', {}]);
    });

    test('every option arrives', async () => {
      const id = await dispatch(`'repo.sync', '{"repo":7}'::jsonb, exclusive => ARRAY['repo:7'],
        shared => ARRAY['store'], queue => 'slow', priority => 5, run_at => '2999-01-01Z',
        needs => '{"ffmpeg":">=6"}', parent => '01a22ad2-8d09-759f-b244-13f664336186', notify => false`);
      expect(await mustGet(opened.store, id)).toMatchObject({
        ...{ exclusive: ['repo:7'], shared: ['store'], queue: 'slow', priority: 5 },
        ...{ runAt: '2999-01-01T00:00:00.000Z', parent: '01a22ad2-8d09-759f-b244-13f664336186' },
      });
    });

    test('ids made in SQL are UUIDs of version 7 in order of time', async () => {
      const before = Date.now();
      const id = await dispatch(`'a'`);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const made = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
      expect(Math.abs(made - before)).toBeLessThan(60_000);
    });

    test('resources are normalised as the library does', async () => {
      const name = fc.oneof(
        fc.constantFrom('a', 'b', 'B', 'repo:1', 'é', 'ä', ' ', '{}', 'a"b', '\\', 'a,b'),
        // Byte order and code unit order agree below the surrogates.
        fc.string({
          unit: fc.integer({ min: 1, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
          minLength: 1,
          maxLength: 5,
        }),
      );
      const names = fc.array(name, { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(names, names, async (exclusive, shared) => {
          const id = await dispatch(`'a', exclusive => $1::text[], shared => $2::text[]`, [
            exclusive,
            shared,
          ]);
          const row = await mustGet(opened.store, id);
          const normal = normalizeResources({ exclusive, shared });
          expect({ exclusive: row.exclusive, shared: row.shared }).toEqual(normal);
        }),
        { numRuns: 60 },
      );
    });

    test.each([
      [`''`, 'HF422', 'The name of a task must not be empty.'],
      [`NULL`, 'HF422', 'The name of a task must not be empty.'],
      [`repeat('n', 1025)`, 'HF422', 'The name of a task is 1025 bytes long; the limit is 1024.'],
      [`'a', queue => ''`, 'HF422', 'The queue must not be empty.'],
      [`'a', exclusive => ARRAY['']`, 'HF422', 'A resource in "exclusive" must not be empty.'],
      [`'a', exclusive => ARRAY[NULL]::text[]`, 'HF422', 'A resource in "exclusive" must not be empty.'],
      [`'a', shared => ARRAY[repeat('é', 513)]`, 'HF422', 'A resource in "shared" is 1026 bytes long'],
      [
        `'a', exclusive => (SELECT array_agg(i::text) FROM generate_series(1, 1001) i)`,
        'HF422',
        'at most 1000 resources; this one names 1001',
      ],
      [`'a', priority => 32768`, 'HF422', 'priority must be within -32768 and 32767'],
      [`'a', run_at => 'infinity'`, 'HF422', 'run_at must be a moment in the years 1970 to 9999'],
      [`'a', run_at => '1969-12-31Z'`, 'HF422', 'run_at must be a moment'],
      [`'a', needs => '[]'`, 'HF422', 'needs must be an object'],
      [`'a', needs => '{"lib": 6}'`, 'HF422', 'needs must be an object'],
      [`'a', needs => NULL`, 'HF422', 'needs must be an object'],
      [
        `'a', needs => jsonb_build_object('lib', repeat('x', 3000))`,
        'HF422',
        'more than 2500 bytes together',
      ],
      [
        `'a', to_jsonb(repeat('x', 1048575))`,
        'HF413',
        'The payload takes 1048577 bytes; the limit is 1048576.',
      ],
    ])('dispatch(%s) is refused with %s', async (args, code, message) => {
      await expect(dispatch(args)).rejects.toMatchObject({ code });
      await expect(dispatch(args)).rejects.toThrow(message);
    });

    test('the limits themselves are accepted', async () => {
      await dispatch(`repeat('n', 1024), to_jsonb(repeat('x', 1048574)), priority => -32768,
        exclusive => (SELECT array_agg(rpad(i::text, 1024, 'r')) FROM generate_series(1, 1000) i)`);
    });

    test('a name given both ways counts as exclusive and once', async () => {
      const many = `(SELECT array_agg(i::text) FROM generate_series(1, 1000) i)`;
      const id = await dispatch(`'a', exclusive => ${many} || ${many}, shared => ${many}`);
      const row = await mustGet(opened.store, id);
      expect([row.exclusive.length, row.shared.length]).toEqual([1_000, 0]);
    });

    test('its commit notifies the channel of the namespace, unless told not to', async () => {
      let heard = 0;
      const stop = await opened.database.listen(opened.namespace, () => (heard += 1));
      await dispatch(`'a', notify => false`);
      await dispatch(`'a'`);
      await waitUntil(() => heard > 0, 'the dispatch is heard');
      expect(heard).toBe(1);
      await stop();
    });
  });
}
