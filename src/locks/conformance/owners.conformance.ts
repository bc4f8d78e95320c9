import { describe, expect, test } from 'vitest';
import { ownerText, type Owner } from '../../owner.js';
import type { FindOwners } from '../lock-table.js';
import { ada, bob, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

const names = [
  'a',
  'a:1',
  'a:1:1',
  'aa',
  'a:',
  ':',
  '*',
  'a*',
  '{a}',
  'b\nc',
  'é',
  '\uffee',
  '\u{1f600}',
  'a::',
  'a:12',
];

export function describeOwners(open: OpenTable): void {
  describe('owners', () => {
    const current = freshTable(open);

    async function listAll(): Promise<string[]> {
      const texts: string[] = [ownerText(ada), ownerText(bob)];
      for (const name of names) {
        for (const incarnation of ['1', '2', '10']) {
          await current().table.listOwner(epoch, { name, incarnation });
          texts.push(ownerText({ name, incarnation }));
        }
      }
      return texts.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }

    async function find(what: Partial<FindOwners>): Promise<string[]> {
      const owners = await current().table.findOwners(epoch, { after: null, limit: 1_000, ...what });
      return owners.map(ownerText);
    }

    test('an owner is listed once and unlisted once', async () => {
      await current().table.listOwner(epoch, ada);
      expect(await find({})).toEqual(['ada:1', 'bob:2']);
      expect(await current().table.unlistOwner(epoch, ada)).toBe('unlisted');
      expect(await current().table.unlistOwner(epoch, ada)).toBe('unlisted');
      expect(await find({})).toEqual(['bob:2']);
    });

    test('an owner that holds stays listed', async () => {
      await current().enter(hold('t1'));
      await current().claim(ada);
      expect(await current().table.unlistOwner(epoch, ada)).toBe('still-holds');
      expect(await find({})).toEqual(['ada:1', 'bob:2']);
      await current().release(ada, 't1');
      expect(await current().table.unlistOwner(epoch, ada)).toBe('unlisted');
    });

    test('all owners are found, in the order of the bytes of their texts', async () => {
      const all = await listAll();
      expect(await find({})).toEqual(all);
    });

    test('owners are found by their whole name, never by a part of it', async () => {
      await listAll();
      for (const name of names) {
        expect(await find({ name })).toEqual([`${name}:1`, `${name}:10`, `${name}:2`]);
      }
      expect(await find({ name: 'ad' })).toEqual([]);
      expect(await find({ name: 'ada' })).toEqual(['ada:1']);
    });

    test('owners are found by the prefix of their texts', async () => {
      const all = await listAll();
      for (const prefix of [
        '',
        'a',
        'a:',
        'a:1',
        'a:1:',
        'ada:1',
        'ada:1x',
        '*',
        '{',
        '\u{1f600}',
        '\uffee:',
        'zz',
      ]) {
        expect(await find({ prefix })).toEqual(all.filter((text) => text.startsWith(prefix)));
      }
    });

    test.each<Partial<FindOwners>>([{}, { name: 'a' }, { name: 'a:1' }, { prefix: 'a:1' }, { prefix: 'a' }])(
      'pages of %j come in order and are full until the last',
      async (what) => {
        await listAll();
        const whole = await find(what);
        for (const limit of [1, 2, 7]) {
          const paged: string[] = [];
          for (let after: string | null = null; ; after = paged.at(-1)!) {
            const page = await find({ ...what, after, limit });
            paged.push(...page);
            if (page.length < limit) break;
          }
          expect(paged).toEqual(whole);
        }
      },
    );

    test('a page goes on behind an owner that is not listed any more', async () => {
      expect(await find({ after: 'ada:1', limit: 1 })).toEqual(['bob:2']);
      expect(await find({ after: 'b', limit: 1 })).toEqual(['bob:2']);
      expect(await find({ after: 'c', limit: 1 })).toEqual([]);
    });
  });

  describe('registries', () => {
    const current = freshTable(open);

    test('a registry is read page by page, in the order of the bytes of the tasks', async () => {
      const tasks = ['b', 'a', '\u{1f600}', '\uffee', 'a:1', 'A'];
      await current().enter(...tasks.map((task) => hold(task)), hold('of bob', { lane: 'bob' }));
      const claimed = await current().claim(ada);
      await current().claim(bob, 1, ['bob']);
      const inBytes = [...claimed].sort((x, y) => Buffer.compare(Buffer.from(x.task), Buffer.from(y.task)));
      const read = (after: string | null, limit: number) =>
        current().table.readRegistry(epoch, ada, { after, limit });
      expect(await read(null, 100)).toEqual(inBytes);
      expect(await read(null, 2)).toEqual(inBytes.slice(0, 2));
      expect(await read(inBytes[1]!.task, 2)).toEqual(inBytes.slice(2, 4));
      expect(await read(inBytes[5]!.task, 2)).toEqual([]);
      expect(await read('B', 1)).toEqual(inBytes.slice(1, 2));
    });

    test('it is each incarnation’s own', async () => {
      const owner: Owner = { name: 'ada', incarnation: '12' };
      await current().table.listOwner(epoch, owner);
      await current().enter(hold('t1'));
      await current().claim(owner);
      expect(await current().table.readRegistry(epoch, ada, { after: null, limit: 9 })).toEqual([]);
      expect(await current().table.readRegistry(epoch, owner, { after: null, limit: 9 })).toHaveLength(1);
    });
  });
}
