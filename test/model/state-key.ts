import type { Call, ModelProcess } from './process.js';
import type { World } from './world.js';
import { digest, textOf } from './digest.js';

/** What identifies a state: both stores, what each process knows and waits for, and the faults that are left. */
export function stateKey(world: World): string {
  const { content, processes, orphans, ghosts, faultsLeft, stops } = world;
  const pass = world.table.state.keyspaces.get(world.table.state.epoch?.number ?? '')?.pass ?? 0n;
  const fields = [
    content,
    ...processes.map((process) => processText(world, process, pass)),
    ...orphans.map((call) => callText(world, call, pass)).sort(),
    ghosts.text(),
    [...faultsLeft.values()].join(),
    stops,
  ];
  return digest(fields.join('\n'));
}

function processText(world: World, process: ModelProcess, pass: bigint): string {
  const { status, history, calls, timers, handlers, beats, node } = process;
  if (status === 'crashed') return status;
  const texts = [
    ...calls.map(
      (call) => `${callText(world, call, pass)}=${call.answer === null ? '' : textOf(call.answer)}`,
    ),
    ...timers.map(
      (timer) =>
        `${timer.ms}${timer.setIn < world.version}${timer.setAfter < process.deliveries}${timer.afterFault}`,
    ),
    ...[...process.begunIn].map(([name, version]) => `${name}${version < world.version}`),
  ];
  return `${status}${history}${beats}${node.beatsNoMore}${handlers.length}${texts.join()}`;
}

/** Of its pass only whether the table would take it, and of its transaction whether it is still open. */
function callText(world: World, { op, args, process, orphaned }: Call, pass: bigint): string {
  const head = `${process.name}${orphaned}${op}`;
  if (op === 'enter') {
    const older = BigInt(args[1] as string) < pass ? 'older' : '';
    return `${head}${older}${textOf([args[0], args[2]])}`;
  }
  const [transaction, ...others] = args;
  if (typeof transaction !== 'number') return `${head}${textOf(args)}`;
  const isOpen = world.transactions.openTransactions().some(({ id }) => id === transaction);
  return `${head}${isOpen}${textOf(others)}`;
}
