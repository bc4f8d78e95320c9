import type { Queryable } from '../../store/database.js';
import type { UniqueMode } from '../../store/store.js';
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
  /** Not before this moment, by the database's clock; ISO 8601 where it is a text. Default: at once. */
  runAt?: Date | string;
  /** Default: the definition's, or `default`. */
  queue?: string;
  /** At most one task that is not in a final state has it, in the whole namespace; at most 1 KiB. Default: none. */
  uniqueKey?: string;
  /**
   * Where such a task is there already: `keep` answers with it, and dispatches nothing. `replace` cancels it if it
   * waits; one that runs is kept. Default `keep`.
   */
  uniqueMode?: UniqueMode;
}

export interface TransactionOption {
  /** A transaction of the caller's: what is dispatched exists when it commits, and never when it does not. */
  tx?: Queryable;
}

export interface DispatchOptions extends HandlerDispatchOptions, TransactionOption {
  /**
   * Run it here and now, in this process: when all its resources are free and nobody queues for them, else throw
   * ResourcesBusy. Its definition must be loaded here, run inline and need no versions. Not with `tx` or `runAt`. What is
   * resolved runs already; `wait` tells its end. Default false.
   */
  immediate?: boolean;
  /** With `immediate`: where it cannot be run here and now, dispatch it like any other task. Default false. */
  deferred?: boolean;
}

/** A task just dispatched, or the one that has its unique key. The database gives it its `createdAt`; `tasks.get` tells it. */
export type DispatchedTask = Omit<Task, 'createdAt'>;

export interface Dispatch<Options> {
  /**
   * The payload is parsed by the definition's schema and stored as it was given; leaving it out means null.
   * Throws InvalidTask or PayloadTooLarge before anything is stored, and Unavailable where PostgreSQL does not
   * answer: the task may exist then.
   */
  <Input>(
    definition: TaskDefinition<Input>,
    payload: NoInfer<Input>,
    options?: Options,
  ): Promise<DispatchedTask>;
  /** By name. Where no definition of that name is loaded here, the payload is checked when the task runs. */
  (name: string, payload?: unknown, options?: Options): Promise<DispatchedTask>;
}

export type HandlerDispatch = Dispatch<HandlerDispatchOptions>;

/** One task of many: by its definition, or by its name, which may also be called `name` as in a batch file. */
export type DispatchRequest<Input = unknown> = HandlerDispatchOptions &
  (
    | { task: TaskDefinition<Input>; payload: NoInfer<Input> }
    | { task: string; payload?: unknown }
    | { name: string; payload?: unknown }
  );

/** Dispatches all of the tasks, in this order, or none. Throws like `dispatch`, naming the index in the list. */
export type DispatchMany = <Inputs extends readonly unknown[]>(
  requests: readonly [...{ [Index in keyof Inputs]: DispatchRequest<Inputs[Index]> }],
  options?: TransactionOption,
) => Promise<DispatchedTask[]>;
