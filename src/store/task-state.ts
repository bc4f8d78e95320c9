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

export const finalStates: readonly TaskState[] = ['completed', 'failed', 'canceled'];
