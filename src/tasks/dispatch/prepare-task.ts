import { v7 } from 'uuid';
import type { NewTask } from '../../store/store.js';
import type { TaskDefinition } from '../definition.js';
import type { HandlerDispatchOptions } from './dispatch-signature.js';
import { InvalidTask } from '../../errors.js';
import { checkName, normalizeResources } from '../../resources.js';
import { checkPriority, checkQueue } from '../check-task-options.js';
import { isTaskDefinition } from '../definition.js';
import { refuseUnknownOptions } from '../known-options.js';
import { parsePayload } from '../parse-payload.js';
import { resourcesOf } from '../resources-of.js';
import { storableJson } from '../storable-json.js';
import { shown } from '../../shown.js';
import { runAtText } from './run-at.js';

/** The definitions that are loaded in this process, by name. */
export type LoadedDefinitions = ReadonlyMap<string, TaskDefinition>;

export interface PreparedTask {
  task: NewTask;
  /** The size of its payload as JSON. */
  bytes: number;
}

const handlerDispatchOptions = [
  'exclusive',
  'shared',
  'priority',
  'runAt',
  'queue',
  'uniqueKey',
  'uniqueMode',
] as const;

/**
 * The row of a task that is to be dispatched, with an id made here: inserting it again after a lost reply is
 * harmless. The payload is stored as given and must parse where the definition is at hand. Throws InvalidTask or
 * PayloadTooLarge. Pure but for the id, so a child process can prepare what its parent inserts. `alsoTakes` names the
 * options that the caller has taken out, for the message about an unknown one.
 */
export async function prepareTask(
  target: TaskDefinition | string,
  payload: unknown,
  options: HandlerDispatchOptions,
  from: { loaded: LoadedDefinitions; parent: string | null; alsoTakes?: readonly string[] },
): Promise<PreparedTask> {
  const definition = typeof target === 'string' ? (from.loaded.get(target) ?? null) : target;
  const name = nameOf(target);
  const what = `Task ${JSON.stringify(name)}`;
  refuseUnknownOptions(options, [...handlerDispatchOptions, ...(from.alsoTakes ?? [])], `${what}: dispatch`);
  const given: unknown = payload === undefined ? null : payload;
  const text = storableJson(given, `${what}: payload`);
  const task: NewTask = {
    id: v7(),
    name,
    queue: checkQueue(options.queue ?? definition?.queue ?? 'default', what),
    // A copy: neither the caller nor a schema can change it between here and the insert.
    payload: JSON.parse(text) as unknown,
    ...(await resourcesAtDispatch(definition, given, options)),
    priority: checkPriority(options.priority ?? definition?.priority ?? 0, what),
    needs: definition?.needs ?? {},
    runAt: options.runAt === undefined ? null : runAtText(options.runAt, `${what}: runAt`),
    parent: from.parent,
    ...uniqueAtDispatch(options, what),
    policies: definition?.policies ?? null,
  };
  return { task, bytes: Buffer.byteLength(text) };
}

function nameOf(target: unknown): string {
  if (isTaskDefinition(target)) return target.name;
  if (typeof target !== 'string') {
    throw new InvalidTask('dispatch takes a definition made by defineTask, or the name of a task.');
  }
  checkName(target, 'The name of a task');
  return target;
}

function uniqueAtDispatch(
  { uniqueKey, uniqueMode = 'keep' }: HandlerDispatchOptions,
  what: string,
): Pick<NewTask, 'uniqueKey' | 'uniqueMode'> {
  if (uniqueMode !== 'keep' && uniqueMode !== 'replace') {
    throw new InvalidTask(`${what}: uniqueMode must be "keep" or "replace"; got ${shown(uniqueMode)}.`);
  }
  if (uniqueKey !== undefined) {
    checkName(uniqueKey, `${what}: uniqueKey`);
  } else if (uniqueMode === 'replace') {
    throw new InvalidTask(`${what}: uniqueMode says what happens with a uniqueKey, and there is none.`);
  }
  return { uniqueKey: uniqueKey ?? null, uniqueMode };
}

async function resourcesAtDispatch(
  definition: TaskDefinition | null,
  payload: unknown,
  { exclusive = [], shared = [] }: HandlerDispatchOptions,
): Promise<{ exclusive: string[]; shared: string[] }> {
  if (definition === null) return normalizeResources({ exclusive, shared });
  const parsed = await parsePayload(definition, payload);
  if (parsed.parsed) return resourcesOf(definition, parsed.payload, { exclusive, shared });
  throw new InvalidTask(
    `Task ${JSON.stringify(definition.name)}: the payload does not fit. ${parsed.problems}`,
  );
}
