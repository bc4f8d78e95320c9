import type { TaskEntry } from './store.js';
import type { TaskState } from './task-state.js';

/** What an audit asks of the store and has it write. */
export interface AuditedTasks {
  /** A page of the tasks that are in no final state, in order of id. */
  unsettledTasks(page: { after: string | null; limit: number }): Promise<AuditedTask[]>;
  /** Of these tasks, those that there are, in whatever state. */
  auditedTasks(ids: string[]): Promise<AuditedTask[]>;
  /** Has tasks admitted anew that wait with that entry and count as admitted in the epoch; returns how many. */
  readmitTasks(epoch: string, tasks: TaskEntry[]): Promise<number>;
  /**
   * Makes it impossible that a row with this id comes in late: inserts a canceled task where there is none. Whether the
   * row that is there now is in a final state.
   */
  voidTask(task: { id: string; name: string; queue: string }): Promise<boolean>;
}

export interface AuditedTask {
  id: string;
  state: TaskState;
  entry: number;
  /** The incarnation. */
  worker: string | null;
  /** Whether its time has come. */
  due: boolean;
  /** '0': none. */
  admittedEpoch: string;
  /** The last entry whose hold admission is to take out. */
  takeOut: number | null;
  exclusive: string[];
  shared: string[];
}
