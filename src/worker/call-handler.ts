import type { RollbackContext, TaskContext, TaskDefinition } from '../tasks/definition.js';
import type { HandlerName } from './child-pool.js';

/** Calls one of a definition's handlers. A roll-back has no result, and dispatches nothing. */
export async function callHandler(
  definition: TaskDefinition,
  handler: HandlerName,
  payload: unknown,
  context: TaskContext,
): Promise<unknown> {
  if (handler === 'run') return definition.run(payload, context);
  const { task, signal, fence, progress, log } = context;
  const given: RollbackContext = { task, signal, fence, progress, log };
  await definition.rollback(payload, given);
  return null;
}
