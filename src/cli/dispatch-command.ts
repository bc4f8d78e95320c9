import { Command, Option } from 'commander';
import type { HandlerDispatchOptions } from '../tasks/dispatch/dispatch-signature.js';
import { InvalidTask } from '../errors.js';
import { dispatchBatch } from './dispatch-batch.js';
import { dispatchOne } from './dispatch-one.js';
import { onInvocation } from './invocation.js';
import { checkWaitCanEnd } from './waiting-worker.js';
import { collect, integer, optionParser } from './option-parsers.js';

export interface DispatchFlags extends HandlerDispatchOptions {
  payload?: unknown;
  runAt?: string;
  tasks?: string[];
  immediate?: boolean;
  wait?: boolean;
  batch?: string;
}

const example = `
Each line of --batch is one task:
  {"name":"repo.sync","payload":{"repo":7},"exclusive":["repo:7"],"shared":["store"]}
with "priority", "runAt", "queue", "uniqueKey" and "uniqueMode" where needed. All lines are checked before the first task is dispatched: with a
bad line nothing is. Then they go in order, 1,000 in one transaction each.
`;

export function dispatchCommand(): Command {
  const command = new Command('dispatch')
    .description('dispatch a task, and print its id; or many, and print how many (with --json, their ids)')
    .argument('[name]', 'the name of the task')
    .option('--payload <json>', 'what the task is given', optionParser(parseJson))
    .option('--exclusive <resource>', 'held by this task alone; may be given several times', collect)
    .option('--shared <resource>', 'held beside others that share it; may be given several times', collect)
    .option('--priority <n>', 'larger goes first', integer('--priority', -32_768, 32_767))
    .option('--run-at <time>', 'not before this moment (ISO 8601 with its zone)')
    .option('--queue <name>', 'default: as the task is defined, or "default"')
    .option('--unique-key <key>', 'nothing is dispatched while a task with this key is there and not over')
    .addOption(
      new Option(
        '--unique-mode <mode>',
        'what becomes of that one: with replace it is canceled if it waits',
      ).choices(['keep', 'replace']),
    )
    .option('--tasks <file>', 'a file that defines tasks: then the payload is checked now', collect)
    .option('--immediate', 'run it here and now, if all its resources are free; needs --tasks')
    .option('--wait', 'wait until it has settled; exit 1 unless it completed')
    .option('--batch <file>', 'dispatch the tasks in a file of JSON lines; - is stdin')
    .addHelpText('after', example);
  return onInvocation<DispatchFlags>(command, async ({ args: [name], flags, global }) => {
    checkWaitCanEnd(global, flags);
    if (flags.immediate === true && flags.tasks === undefined) {
      throw new InvalidTask(
        '--immediate runs the task in this process: give --tasks, the file that defines it.',
      );
    }
    if (flags.batch === undefined) return await dispatchOne(requireName(name), flags, global);
    refuseBesidesBatch(name, flags);
    await dispatchBatch(flags.batch, flags, global);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidTask(`It must be JSON: ${(error as Error).message}.`);
  }
}

function requireName(name: string | undefined): string {
  if (name !== undefined) return name;
  throw new InvalidTask('Give the name of the task, or --batch FILE.');
}

/** What a batch's lines say for themselves. */
function refuseBesidesBatch(name: string | undefined, flags: DispatchFlags): void {
  const { batch, tasks, wait, ...others } = flags;
  const [given] = name === undefined ? Object.keys(others) : ['a name'];
  if (given === undefined) return;
  throw new InvalidTask(`With --batch each line says what it is; ${given} cannot be given beside it.`);
}
