import { expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { Run } from '../run.js';
import { taskReader } from './get-task.js';

test('thousands who read at once share a few queries, and one that fails takes only its own along', async () => {
  const sizes: number[] = [];
  const run = (async (_: unknown, [ids]: [string[]]) => {
    sizes.push(ids.length);
    if (sizes.length === 2) throw new Error('lost');
    return [];
  }) as unknown as Run;
  const read = taskReader(run);
  const reads = await Promise.allSettled(Array.from({ length: 250 }, () => read(v7())));
  expect(sizes).toEqual([100, 100, 50]);
  expect(reads.map(({ status }) => status).indexOf('rejected')).toBe(100);
  expect(reads.filter(({ status }) => status === 'rejected')).toHaveLength(100);
  expect(await read(v7())).toBeNull();
});

test('a read that begins while a query is under way is answered by a later one', async () => {
  let answerFirst: () => void = () => {};
  const asked: string[][] = [];
  const run = (async (_: unknown, [ids]: [string[]]) => {
    asked.push(ids);
    if (asked.length === 1) await new Promise<void>((resolve) => (answerFirst = resolve));
    return [];
  }) as unknown as Run;
  const read = taskReader(run);
  const id = v7();
  const first = read(id);
  await Promise.resolve();
  await Promise.resolve();
  const second = read(id);
  answerFirst();
  await Promise.all([first, second]);
  expect(asked).toEqual([[id], [id]]);
});
