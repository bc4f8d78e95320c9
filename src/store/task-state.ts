/** The states of a task. Final ones never change. */
export const taskStates = [
  'waiting',
  'running',
  'canceling',
  'rolling_back',
  'completed',
  'failed',
  'canceled',
] as const;

export type TaskState = (typeof taskStates)[number];

/** Has a hold that must survive a rebuild, and counts as running wherever running counts. */
export const runningLikeStates: readonly TaskState[] = ['running', 'canceling', 'rolling_back'];

export const finalStates: readonly TaskState[] = ['completed', 'failed', 'canceled'];
