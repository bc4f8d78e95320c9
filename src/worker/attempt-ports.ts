import type { Policies, TaskEntry } from '../store/store.js';
import type { Isolation } from '../tasks/definition.js';
import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import type { ChildPool } from './child-pool.js';
import type { HandlerDispatching } from './handler-dispatch.js';
import type { Incarnation } from './incarnation.js';
import type { LentSlots } from './lent-slots.js';
import type { ProgressWriting } from './progress-writing.js';

/** What the attempts of one worker share. */
export interface AttemptPorts {
  incarnation: Incarnation;
  definitions: LoadedDefinitions;
  /** For definitions that leave it open. */
  isolation: Isolation;
  /** Made with the first attempt that runs in a child. */
  children(): ChildPool;
  dispatching: HandlerDispatching;
  progress: ProgressWriting;
  slots: LentSlots;
  /** Never rejects. Resolves with whether they are stored: the row needs them where this worker is lost. */
  writePolicies(policies: TaskEntry & { policies: Policies }): Promise<boolean>;
}
