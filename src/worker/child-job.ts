import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import { HoldfastError } from '../errors.js';
import { runAsHandler } from '../handler-context.js';
import { callHandler } from './call-handler.js';
import { parsePayload } from '../tasks/parse-payload.js';
import { storableJson } from '../tasks/storable-json.js';
import type { ChildJobContext } from './child-job-context.js';
import { plainChildError } from './child-error.js';
import type { JobMessage, SettledOutcome } from './child-messages.js';

/** Runs a job's handler in this process, calling `started` right before it. Never rejects. */
export async function runJob(
  { name, handler, payload }: JobMessage,
  job: ChildJobContext,
  loaded: LoadedDefinitions,
  started: () => void,
): Promise<SettledOutcome> {
  const { signal } = job.context;
  if (signal.aborted) return { status: 'not-started', error: plainChildError(signal.reason) };
  const definition = loaded.get(name);
  if (definition === undefined) {
    const message = `The task files of this worker's children define no task ${JSON.stringify(name)}.`;
    return { status: 'failed', error: { name: 'UnknownTask', code: 'UnknownTask', message } };
  }
  try {
    const parsed = await parsePayload(definition, payload);
    if (!parsed.parsed) return unretryable('InvalidTask', `The payload does not fit. ${parsed.problems}`);
    started();
    // The slot is its parent's, and stays taken.
    const caller = { task: job.context.task.id, lendSlot: () => () => {} };
    return resultOf(
      await runAsHandler(caller, () => callHandler(definition, handler, parsed.payload, job.context)),
    );
  } catch (error) {
    return { status: 'failed', error: plainChildError(error) };
  }
}

function resultOf(result: unknown): SettledOutcome {
  try {
    const text = storableJson(result === undefined ? null : result, 'The result');
    return { status: 'completed', result: JSON.parse(text) };
  } catch (error) {
    if (error instanceof HoldfastError) return unretryable(error.code, error.message);
    return { status: 'failed', error: plainChildError(error) };
  }
}

/** Another attempt would fail alike. */
function unretryable(code: string, message: string): SettledOutcome {
  return { status: 'failed', error: { name: code, code, message, unretryable: true } };
}
