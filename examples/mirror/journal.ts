import { appendFile, readFile } from 'node:fs/promises';
import type { TaskContext } from 'holdfast';
import type { Layout } from './layout.js';

type Line =
  | { mark: 'begin' }
  | { mark: 'start'; task: string; pid: number; exclusive: string[]; shared: string[] }
  | { mark: 'end'; task: string }
  | { mark: 'death'; pid: number };

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
    pid: process.pid,
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

/** Notes that a process runs no more and never will: what it had begun has no end of its own. */
export async function noteDeath(layout: Layout, pid: number): Promise<void> {
  await append(layout, { mark: 'death', pid });
}

/** Which task runs in which process, as far as the tasks have told. */
export async function findRunning(layout: Layout): Promise<{ task: string; pid: number }[]> {
  const running = new Map<string, Running>();
  for (const line of await readLines(layout)) advance(running, line);
  return [...running.values()].map(({ task, pid }) => ({ task, pid }));
}

/** Every pair of conflicting tasks that ran at the same time. There must be none. */
export async function findOverlaps(layout: Layout): Promise<string[]> {
  const running = new Map<string, Running>();
  const overlaps: string[] = [];
  for (const line of await readLines(layout)) {
    advance(running, line);
    if (line.mark !== 'start') continue;
    for (const other of running.values()) {
      if (other !== line) overlaps.push(...conflicts(line, other));
    }
  }
  return overlaps;
}

function advance(running: Map<string, Running>, line: Line): void {
  if (line.mark === 'begin') running.clear();
  else if (line.mark === 'end') running.delete(line.task);
  else if (line.mark === 'start') running.set(line.task, line);
  else {
    for (const { task, pid } of running.values()) if (pid === line.pid) running.delete(task);
  }
}

function conflicts(a: Running, b: Running): string[] {
  const exclusive = a.exclusive.filter((name) => b.exclusive.includes(name) || b.shared.includes(name));
  const shared = a.shared.filter((name) => b.exclusive.includes(name));
  return [...exclusive, ...shared].map((name) => `tasks ${a.task} and ${b.task} ran together on ${name}`);
}

async function append(layout: Layout, line: Line): Promise<void> {
  await appendFile(layout.journal, `${JSON.stringify(line)}\n`);
}

/** What is being written has no newline yet. */
async function readLines(layout: Layout): Promise<Line[]> {
  const texts = (await readFile(layout.journal, 'utf8')).split('\n').slice(0, -1);
  return texts.map((text) => JSON.parse(text) as Line);
}
