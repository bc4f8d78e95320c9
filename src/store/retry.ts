import type { TaskState } from './task-state.js';

/** The states of a task before and after it was to be retried: one where it was not. */
export interface RetryOutcome {
  before: TaskState;
  after: TaskState;
}

export interface RetryPage {
  state: 'failed' | 'canceled';
  /** null: any. */
  name: string | null;
  /** The `next` of the page before; null at first. */
  from: RetryCursor | null;
  limit: number;
}

export interface RetriedPage {
  retried: number;
  refused: number;
  next: RetryCursor | null;
  until: string;
}

/** `until`: when the first page was read. What has ended since is left alone. `after` null: from the first task on. */
export interface RetryCursor {
  after: string | null;
  until: string;
}
