import { appendFile, readFile } from 'node:fs/promises';
import type { TaskContext } from 'holdfast';
import type { Layout } from './layout.js';

type Line =
  | { mark: 'begin' }
  | { mark: 'start'; task: string; exclusive: string[]; shared: string[] }
  | { mark: 'end'; task: string };

type Running = Extract<Line, { mark: 'start' }>;

/**
 * Notes the start and the end of `work` in the journal: one append each, so lines are whole and in one order,
 * whichever processes write them. Both lie within the time the task holds its locks.
 */
export async function journaled<Result>(
  layout: Layout,
  { task }: TaskContext,
  work: () => Promise<Result>,
): Promise<Result> {
  await append(layout, {
    mark: 'start',
    task: task.id,
    exclusive: task.exclusive,
    shared: task.shared,
  });
  try {
    return await work();
  } finally {
    await append(layout, { mark: 'end', task: task.id });
  }
}

/** Notes that nothing runs: whatever has no end by now died with its process. */
export async function beginJournal(layout: Layout): Promise<void> {
  await append(layout, { mark: 'begin' });
}

/** Every pair of conflicting tasks that ran at the same time. There must be none. */
export async function findOverlaps(layout: Layout): Promise<string[]> {
  const running = new Map<string, Running>();
  const overlaps: string[] = [];
  for (const text of (await readFile(layout.journal, 'utf8')).split('\n')) {
    if (text === '') continue;
    const line = JSON.parse(text) as Line;
    if (line.mark === 'begin') running.clear();
    else if (line.mark === 'end') running.delete(line.task);
    else {
      running.delete(line.task);
      for (const other of running.values()) overlaps.push(...conflicts(line, other));
      running.set(line.task, line);
    }
  }
  return overlaps;
}

function conflicts(a: Running, b: Running): string[] {
  const exclusive = a.exclusive.filter((name) => b.exclusive.includes(name) || b.shared.includes(name));
  const shared = a.shared.filter((name) => b.exclusive.includes(name));
  return [...exclusive, ...shared].map((name) => `tasks ${a.task} and ${b.task} ran together on ${name}`);
}

async function append(layout: Layout, line: Line): Promise<void> {
  await appendFile(layout.journal, `${JSON.stringify(line)}\n`);
}
