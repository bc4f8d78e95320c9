import { Command } from 'commander';
import type { Holdfast } from '../holdfast.js';
import type { Task } from '../tasks/task.js';
import type { ErrorCode } from '../errors.js';
import { HoldfastError } from '../errors.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeNote, writeResult } from './write-output.js';

interface Refusal {
  id: string;
  code: ErrorCode;
  message: string;
}

interface Canceled {
  tasks: Task[];
  refused: Refusal[];
}

export function tasksCancelCommand(): Command {
  const command = new Command('cancel')
    .description(
      'cancels tasks: those that wait at once, those that run when their workers have stopped them',
    )
    .argument('<id...>', 'the ids of the tasks');
  return onInvocation(command, async ({ args: ids, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const canceled = await cancelEach(hf, ids);
      if (canceled.refused.length > 0) process.exitCode = exitStatus.badNews;
      if (global.json === true) return await writeJson(canceled);
      await writeResult(canceled.tasks.map(({ id, state }) => `${id} ${state}\n`).join(''));
      await writeNote(canceled.refused.map(({ code, message }) => `${code}: ${message}\n`).join(''));
    });
  });
}

/** One that is unknown or over keeps no other from being canceled. */
async function cancelEach(hf: Holdfast, ids: string[]): Promise<Canceled> {
  const canceled: Canceled = { tasks: [], refused: [] };
  for (const id of ids) {
    try {
      canceled.tasks.push(await hf.tasks.cancel(id));
    } catch (error) {
      if (!(error instanceof HoldfastError) || !refusals.includes(error.code)) throw error;
      canceled.refused.push({ id, code: error.code, message: error.message });
    }
  }
  return canceled;
}

const refusals: readonly ErrorCode[] = ['NotFound', 'WrongState'];
