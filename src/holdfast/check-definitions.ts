import type { TaskDefinition } from '../tasks/definition.js';
import { InvalidTask } from '../errors.js';
import { isTaskDefinition } from '../tasks/definition.js';

/** The definitions by name. Throws InvalidTask for anything else, and where two have one name. */
export function checkDefinitions(tasks: readonly TaskDefinition[]): Map<string, TaskDefinition> {
  if (!Array.isArray(tasks)) throw new InvalidTask('"tasks" must be a list of definitions.');
  const loaded = new Map<string, TaskDefinition>();
  for (const definition of tasks) {
    if (!isTaskDefinition(definition))
      throw new InvalidTask('"tasks" holds something defineTask did not make.');
    const earlier = loaded.get(definition.name);
    if (earlier !== undefined && earlier !== definition) {
      throw new InvalidTask(`Two definitions in "tasks" have the name ${JSON.stringify(definition.name)}.`);
    }
    loaded.set(definition.name, definition);
  }
  return loaded;
}
