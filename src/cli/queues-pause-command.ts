import { Command } from 'commander';
import { onInvocation } from './invocation.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function queuesPauseCommand(): Command {
  return queueCommand('pause', 'leaves the tasks alone that wait in the queue; what runs goes on');
}

export function queuesResumeCommand(): Command {
  return queueCommand('resume', 'has the tasks of a paused queue queue up again');
}

function queueCommand(does: 'pause' | 'resume', description: string): Command {
  const command = new Command(does).description(description).argument('<queue>', 'the name of the queue');
  return onInvocation(command, async ({ args: [name = ''], global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const state = await hf.queues[does](name);
      if (global.json === true) return await writeJson(state);
      await writeResult(`${state.queue} ${state.paused ? 'paused' : 'not paused'}\n`);
    });
  });
}
