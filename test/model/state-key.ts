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
    ...orphans.map((call) => callText(call, pass)).sort(),
    ghosts.text(),
    [...faultsLeft.values()].join(),
    stops,
  ];
  return digest(fields.join('\n'));
}

function processText(world: World, process: ModelProcess, pass: bigint): string {
  const { status, history, calls, timers, handlers, beats, beatsNoMore } = process;
  if (status === 'crashed') return status;
  const texts = [
    ...calls.map((call) => `${callText(call, pass)}=${call.answer === null ? '' : textOf(call.answer)}`),
    ...timers.map(
      (timer) => `${timer.ms}${timer.setIn < world.version}${timer.setAfter < process.deliveries}`,
    ),
    ...[...process.begunIn].map(([name, version]) => `${name}${version < world.version}`),
  ];
  return `${status}${history}${beats}${beatsNoMore}${handlers.length}${texts.join()}`;
}

/** Of its pass only whether the table would take it. */
function callText({ op, args, process, orphaned }: Call, pass: bigint): string {
  const older = op === 'enter' && BigInt(args[1] as string) < pass ? 'older' : '';
  const known = op === 'enter' ? [args[0], args[2]] : args;
  return `${process.name}${orphaned}${op}${older}${textOf(known)}`;
}
