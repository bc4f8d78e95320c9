import type { Store, TaskFilter } from '../../store/store.js';
import type { TaskState } from '../../store/task-state.js';
import type { Task } from '../task.js';
import type { PageOptions } from './page-options.js';
import { InvalidTask } from '../../errors.js';
import { checkName } from '../../resources.js';
import { taskStates } from '../../store/task-state.js';
import { nearest, refuseUnknownOptions } from '../known-options.js';
import { taskOf } from '../task.js';
import { cutPage, pageOf } from './page-options.js';
import { shown } from '../../shown.js';

export interface TaskListOptions extends PageOptions {
  /** One state or several. Default: all. */
  state?: TaskState | TaskState[];
  /** Exactly this name. Default: all. */
  name?: string;
}

/** A task in a list: payload, result and attempts, which can be large, are told by `tasks.get` alone. */
export type TaskSummary = Omit<Task, 'payload' | 'result' | 'attempts'>;

export interface TaskPage {
  tasks: TaskSummary[];
  /** Give it as `after` to read on; null at the end. */
  next: string | null;
}

/** Tasks, newest first. */
export async function listTasks(
  store: Pick<Store, 'listTasks'>,
  options: TaskListOptions = {},
): Promise<TaskPage> {
  refuseUnknownOptions(options, ['state', 'name', 'limit', 'after'], 'tasks.list');
  const { limit, after } = pageOf(options);
  const filter: TaskFilter = { after, limit: limit + 1 };
  if (options.state !== undefined) filter.states = [options.state].flat().map(checkState);
  if (options.name !== undefined) {
    checkName(options.name, 'The name of a task');
    filter.name = options.name;
  }
  const { rows, next } = cutPage(await store.listTasks(filter), limit, ({ id }) => id);
  return {
    tasks: rows.map((row) => {
      const { payload: _payload, result: _result, attempts: _attempts, ...summary } = taskOf(row);
      return summary;
    }),
    next,
  };
}

function checkState(state: unknown): TaskState {
  if (taskStates.includes(state as TaskState)) return state as TaskState;
  const suggestion = typeof state === 'string' ? nearest(state, taskStates) : null;
  const hint = suggestion === null ? `States are ${taskStates.join(', ')}.` : `Did you mean "${suggestion}"?`;
  throw new InvalidTask(`There is no state ${shown(state)}. ${hint}`);
}
