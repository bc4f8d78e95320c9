import { describe, expect, test } from 'vitest';
import { ada, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

const names = [
  ...[
    '{}',
    '{x}',
    '}{',
    '*',
    '?',
    '[a-z]',
    'a\nb',
    '\r\n',
    ':',
    '::',
    'a:b',
    'hold:t',
    'lock:a',
    ' ',
    'a b',
    '\\',
  ],
  ...[
    'holdfast',
    '__proto__',
    'constructor',
    'toString',
    'nil',
    '0',
    '-1',
    '1e3',
    '"',
    "'",
    '\u0001',
    '\u007f',
  ],
  ...[
    'é',
    'e\u0301',
    'Ω',
    '日本語',
    '\uffee',
    '\u{1f600}',
    '\u{10ffff}',
    'x'.repeat(1_024),
    '\u{1f600}'.repeat(256),
  ],
];

export function describeNames(open: OpenTable): void {
  describe('names', () => {
    const current = freshTable(open);

    test.each(names.map((name) => [JSON.stringify(name).slice(0, 40), name]))(
      '%s as resource, task and lane is stored without loss and reaches nothing else',
      async (_, name) => {
        const others = names.filter((other) => other !== name);
        const some = { exclusive: [name], lane: name };
        expect(await current().enter(hold(name, some), hold(`second ${name.slice(0, 200)}`, some))).toEqual([
          'granted',
          'queued',
        ]);
        expect(await current().enter(hold('others', { exclusive: others }))).toEqual(['granted']);
        const [view] = await current().table.inspectLocks(epoch, [name], 9);
        expect(view).toMatchObject({ resource: name, holders: [{ task: name }], waitingCount: 1 });
        expect(await current().table.inspectHold(epoch, name)).toMatchObject({
          task: name,
          exclusive: [name],
          lane: name,
        });
        expect(await current().claimTasks(ada, 1, [name])).toEqual([name]);
        await current().expectSound();
        expect(await current().release(ada, name)).toEqual(['released']);
        expect((await current().table.inspectHold(epoch, 'others'))?.exclusive).toEqual([...others].sort());
        await current().expectSound();
      },
    );

    test('all of them in one hold, in both modes', async () => {
      const half = names.length >>> 1;
      const given = { exclusive: names.slice(0, half), shared: names.slice(half) };
      expect(await current().enter(hold('t1', given), hold('t2', given))).toEqual(['granted', 'queued']);
      await current().claim(ada);
      await current().release(ada, 't1');
      expect(await current().claimTasks(ada)).toEqual(['t2']);
      expect(await current().table.inspectHold(epoch, 't2')).toMatchObject({
        exclusive: [...given.exclusive].sort(),
        shared: [...given.shared].sort(),
      });
      await current().expectSound();
    });
  });
}
