import type { Queryable } from '../../store/database.js';
import type { TaskDefinition } from '../definition.js';
import type { Task } from '../task.js';

/** How one task differs from its definition. */
export interface HandlerDispatchOptions {
  /** Held exclusively, besides what the definition's `resources` name. */
  exclusive?: string[];
  /** Held shared, besides what the definition's `resources` name. */
  shared?: string[];
  /** −32768 … 32767, larger first. Default: the definition's, or 0. */
  priority?: number;
  /** Not before this moment, by the database's clock. Default: at once. */
  runAt?: Date | string;
  /** Default: the definition's, or `default`. */
  queue?: string;
}

export interface DispatchOptions extends HandlerDispatchOptions {
  /** A transaction of the caller's: the task exists when it commits, and never when it does not. */
  tx?: Queryable;
}

/** A task just dispatched. The database gives it its `createdAt`; `tasks.get` tells it. */
export type DispatchedTask = Omit<Task, 'createdAt'>;

export interface Dispatch<Options> {
  /** The payload is parsed by the definition's schema and stored as it was given. */
  <Input>(
    definition: TaskDefinition<Input>,
    payload: NoInfer<Input>,
    options?: Options,
  ): Promise<DispatchedTask>;
  /** By name: for a task whose definition may not be loaded here. */
  (name: string, payload?: unknown, options?: Options): Promise<DispatchedTask>;
}

export type HandlerDispatch = Dispatch<HandlerDispatchOptions>;
