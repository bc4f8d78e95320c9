import type { Resources } from '../resources.js';
import type { TaskDefinition } from './definition.js';
import { InvalidTask } from '../errors.js';
import { normalizeResources } from '../resources.js';
import { shown } from '../shown.js';

/**
 * What a definition says that its task must hold, with `more` (named at dispatch), in normal form. Throws
 * InvalidTask where the definition's function throws or answers anything but lists of names.
 */
export function resourcesOf<Output>(
  definition: Pick<TaskDefinition<unknown, Output>, 'name' | 'resources'>,
  payload: Output,
  more: Partial<Resources> = {},
): Resources {
  const own = normalizeResources(answerOf(definition, payload));
  const given = normalizeResources(more);
  return normalizeResources({
    exclusive: [...own.exclusive, ...given.exclusive],
    shared: [...own.shared, ...given.shared],
  });
}

function answerOf<Output>(
  definition: Pick<TaskDefinition<unknown, Output>, 'name' | 'resources'>,
  payload: Output,
): Partial<Resources> {
  const task = `Task ${JSON.stringify(definition.name)}`;
  let answer: unknown;
  try {
    answer = definition.resources(payload);
  } catch (error) {
    throw new InvalidTask(`${task}: resources threw: ${shown(error, 1_000)}`, { cause: error });
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer) || 'then' in answer) {
    throw new InvalidTask(`${task}: resources must return { exclusive, shared }, and not a promise.`);
  }
  for (const key of Object.keys(answer)) {
    if (key === 'exclusive' || key === 'shared') continue;
    throw new InvalidTask(`${task}: resources returned ${JSON.stringify(key)} besides exclusive and shared.`);
  }
  return answer;
}
