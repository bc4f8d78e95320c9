import { describe, expect, it } from 'vitest';
import type { PreparedTask } from './prepare-task.js';
import { chunksOf, maxBytesPerStatement, maxRowsPerStatement } from './insert-tasks.js';
import { prepareTask } from './prepare-task.js';

const { task } = await prepareTask('x', null, {}, { loaded: new Map(), parent: null });

function sizes(bytes: number[]): number[] {
  return chunksOf(bytes.map((size): PreparedTask => ({ task, bytes: size }))).map((chunk) => chunk.length);
}

describe('chunksOf', () => {
  it('cuts by rows', () => {
    expect(sizes(Array.from({ length: 2 * maxRowsPerStatement + 1 }, () => 4))).toEqual([1_000, 1_000, 1]);
  });

  it('cuts by bytes and lets one large row stand alone', () => {
    const most = maxBytesPerStatement;
    expect(sizes([most - 1, 1, 1])).toEqual([2, 1]);
    expect(sizes([1, most + 1, 1])).toEqual([1, 1, 1]);
  });

  it('counts the names of resources with the payload', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(512, 'ü'));
    const named = { ...task, exclusive: names.slice(0, 400), shared: names.slice(400) };
    const tasks = Array.from({ length: 10 }, (): PreparedTask => ({ task: named, bytes: 4 }));
    expect(chunksOf(tasks).map((chunk) => chunk.length)).toEqual([4, 4, 2]);
  });

  it('makes nothing of nothing', () => {
    expect(sizes([])).toEqual([]);
  });
});
