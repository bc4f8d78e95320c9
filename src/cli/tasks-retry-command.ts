import { Command } from 'commander';
import type { Holdfast } from '../holdfast.js';
import type { RetriableState } from '../tasks/retry-tasks.js';
import { InvalidTask } from '../errors.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { collect, integer } from './option-parsers.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeNote, writeResult } from './write-output.js';

interface Flags {
  state?: RetriableState[];
  name?: string;
  limit?: number;
}

export function tasksRetryCommand(): Command {
  const command = new Command('retry')
    .description('has failed or canceled tasks run again: those named, or all in a state')
    .argument('[id...]', 'the ids of the tasks')
    .option('--state <state>', 'all that are failed, or canceled; may be given twice', collect)
    .option('--name <name>', 'with --state: only those of this name')
    .option(
      '--limit <n>',
      'with --state: at most so many, the oldest first',
      integer('--limit', 1, Number.MAX_SAFE_INTEGER),
    );
  return onInvocation<Flags>(command, async ({ args: ids, flags, global }) => {
    const { state, ...others } = flags;
    if (ids.length > 0 && state !== undefined) {
      throw new InvalidTask(
        'Both ids and --state were given: give the ids, or --state for all that are in it.',
      );
    }
    if (ids.length === 0 && state === undefined) {
      throw new InvalidTask('Give the ids of tasks, or --state for all that are in it.');
    }
    if (state === undefined && Object.keys(others).length > 0) {
      throw new InvalidTask('--name and --limit go with --state.');
    }
    await withHoldfast(global, {}, async (hf) => {
      if (state === undefined) await retryEach(hf, ids, global.json === true);
      else await retryAll(hf, { ...others, state }, global.json === true);
    });
  });
}

async function retryEach(hf: Holdfast, ids: string[], json: boolean): Promise<void> {
  const retried = await hf.tasks.retry(ids);
  if (retried.refused.length > 0) process.exitCode = exitStatus.badNews;
  if (json) return await writeJson(retried);
  await writeResult(retried.tasks.map(({ id, state }) => `${id} ${state}\n`).join(''));
  await writeNote(retried.refused.map(({ code, message }) => `${code}: ${message}\n`).join(''));
}

async function retryAll(
  hf: Holdfast,
  filter: Flags & { state: RetriableState[] },
  json: boolean,
): Promise<void> {
  const count = await hf.tasks.retry(filter);
  if (json) return await writeJson(count);
  await writeResult(`Retried ${count.retried} ${count.retried === 1 ? 'task' : 'tasks'}.\n`);
  if (count.refused > 0)
    await writeNote(`Refused: ${count.refused}, which changed meanwhile or whose unique key is taken.\n`);
}
