import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const pause = sqlFile(import.meta.url, './pause-queue.sql');
const resume = sqlFile(import.meta.url, './resume-queue.sql');
const goOn = sqlFile(import.meta.url, './continue-pause.sql');

/** Each statement is bounded by this, however many tasks wait. */
const tasksPerStatement = 2_000;

type Phase = 'taking-out' | 'paused' | 'resuming';

export async function pauseQueue(run: Run, queue: string): Promise<void> {
  await run(pause, [queue]);
  while ((await continuePause(run, queue, tasksPerStatement)) === 'taking-out');
}

export async function resumeQueue(run: Run, queue: string): Promise<void> {
  await run(resume, [queue]);
  while ((await continuePause(run, queue, tasksPerStatement)) === 'resuming');
}

/** The phase that the queue is in after one page, null for none; of any queue that has something left where it is null. */
export async function continuePause(run: Run, queue: string | null, limit: number): Promise<Phase | null> {
  const [row] = await run<{ phase: Phase | null }>(goOn, [queue, limit]);
  return row?.phase ?? null;
}
