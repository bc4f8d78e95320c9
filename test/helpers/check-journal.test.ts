import { mkdtempSync, rmSync, appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  assertJournal,
  checkJournal,
  openJournal,
  readJournal,
  type JournalLine,
  type JournalSubject,
} from './journal.js';

function subject(task: string, more: Partial<JournalSubject> = {}): JournalSubject {
  return { task, entry: 1, exclusive: [], shared: [], fence: '1', order: null, ...more };
}

function run(from: number, to: number, what: JournalSubject): JournalLine[] {
  return [
    { ...what, kind: 'start', at: String(from) },
    { ...what, kind: 'end', at: String(to) },
  ];
}

function violations(...lines: JournalLine[][]): string[] {
  return checkJournal(lines.flat()).violations;
}

test('one after another, readers together, and strangers at any time are fine', () => {
  const report = checkJournal([
    ...run(1, 5, subject('a', { exclusive: ['R'], fence: '1', order: '1' })),
    ...run(6, 9, subject('b', { shared: ['R'], fence: '3', order: '2' })),
    ...run(7, 8, subject('c', { shared: ['R'], fence: '2', order: '3' })),
    ...run(2, 20, subject('d', { exclusive: ['S'], fence: '2', order: '4' })),
    ...run(10, 11, subject('e', { exclusive: ['R'], fence: '4', order: '5' })),
  ]);
  expect(report).toEqual({ violations: [], runs: 5, mostAtOnce: 3 });
});

test('two exclusive runs at one time are found', () => {
  const lines = violations(
    run(1, 5, subject('a', { exclusive: ['R'], fence: '1' })),
    run(4, 9, subject('b', { exclusive: ['R'], fence: '2' })),
  );
  expect(lines).toEqual(['task b entry 1 started on R while task a entry 1 ran with it.']);
});

test('a reader beside a writer is found, whichever came first', () => {
  const writer = subject('w', { exclusive: ['R'], fence: '2' });
  expect(violations(run(1, 5, subject('r', { shared: ['R'] })), run(4, 9, writer))).toHaveLength(1);
  const reader = subject('r', { shared: ['R'], fence: '3' });
  expect(violations(run(1, 5, writer), run(4, 9, reader))).toHaveLength(1);
});

test('a writer beside the longest of several readers is found, though the last one is gone', () => {
  const lines = violations(
    run(1, 50, subject('long', { shared: ['R'] })),
    run(2, 3, subject('short', { shared: ['R'] })),
    run(10, 11, subject('w', { exclusive: ['R'], fence: '2' })),
  );
  expect(lines).toEqual(['task w entry 1 started on R while task long entry 1 ran with it.']);
});

test('a name given both ways counts as exclusive', () => {
  const both = subject('a', { exclusive: ['R'], shared: ['R'] });
  expect(violations(run(1, 5, both), run(2, 3, subject('b', { shared: ['R'], fence: '2' })))).toHaveLength(1);
});

test('overtaking on one resource is found, also past a writer', () => {
  const lines = violations(
    run(1, 2, subject('late', { exclusive: ['R'], fence: '1', order: '10' })),
    run(3, 4, subject('early', { exclusive: ['R'], fence: '2', order: '9' })),
    run(5, 6, subject('reader', { shared: ['R'], fence: '3', order: '8' })),
  );
  expect(lines).toEqual([
    'task late entry 1 was served on R before task early entry 1, which came first.',
    'task late entry 1 was served on R before task reader entry 1, which came first.',
  ]);
});

test('readers may start in any order among themselves', () => {
  const lines = violations(
    run(1, 2, subject('b', { shared: ['R'], order: '2' })),
    run(3, 4, subject('a', { shared: ['R'], order: '1' })),
  );
  expect(lines).toEqual([]);
});

test('a second start of the same entry is found, and a next entry is fine', () => {
  expect(violations(run(1, 2, subject('a')), run(3, 4, subject('a')))).toContain(
    'task a entry 1 started twice.',
  );
  expect(violations(run(1, 2, subject('a')), run(3, 4, subject('a', { entry: 2 })))).toEqual([]);
});

test('a fence that does not grow is found', () => {
  const shared = (task: string, at: number, fence: string): JournalLine[] =>
    run(at, at + 1, subject(task, { shared: ['R'], fence }));
  const exclusive = (task: string, at: number, fence: string): JournalLine[] =>
    run(at, at + 1, subject(task, { exclusive: ['R'], fence }));
  expect(violations(exclusive('a', 1, '5'), exclusive('b', 3, '5'))).toHaveLength(1);
  expect(violations(exclusive('a', 1, '5'), shared('b', 3, '4'))).toHaveLength(1);
  expect(violations(shared('a', 1, '5'), exclusive('b', 3, '4'))).toHaveLength(1);
  expect(violations(shared('a', 1, '5'), shared('b', 3, '4'))).toEqual([]);
});

test('a run without an end is found; where a kill is allowed, it counts until its last sign of life', () => {
  const killed = subject('a', { exclusive: ['R'], fence: '1' });
  const lines: JournalLine[] = [
    { ...killed, kind: 'start', at: '1' },
    { ...killed, kind: 'alive', at: '5' },
  ];
  expect(violations(lines)).toEqual(['task a entry 1 started and never ended.']);
  const after = run(6, 7, subject('b', { exclusive: ['R'], fence: '2' }));
  expect(checkJournal([...lines, ...after], { unfinished: 'allowed' }).violations).toEqual([]);
  const beside = run(4, 7, subject('b', { exclusive: ['R'], fence: '2' }));
  expect(checkJournal([...lines, ...beside], { unfinished: 'allowed' }).violations).toHaveLength(1);
});

test('a line after the end, or without a start, is found', () => {
  const a = subject('a');
  const lines = violations(
    run(1, 2, a),
    [{ ...a, kind: 'alive', at: '3' }],
    [{ ...subject('b'), kind: 'end', at: '4' }],
  );
  expect(lines).toHaveLength(2);
});

test('what is written is what is judged, and a torn line spoils no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-journal-'));
  try {
    const journal = openJournal(join(folder, 'journal'));
    const a = subject('a', { exclusive: ['R'], fence: '7', order: '1' });
    journal.start(a);
    journal.alive(a);
    journal.end(a);
    appendFileSync(journal.path, '\n{"kind":"start","task":"b');
    expect(readJournal(journal.path)).toMatchObject([
      { ...a, kind: 'start' },
      { ...a, kind: 'alive' },
      { ...a, kind: 'end' },
    ]);
    expect(assertJournal(journal.path).runs).toBe(1);
    journal.start(a);
    expect(() => assertJournal(journal.path)).toThrow('task a entry 1 started twice.');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
