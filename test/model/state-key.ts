import type { Call, ModelProcess } from './process.js';
import type { World } from './world.js';
import { digest, textOf } from './digest.js';

export type KeyPart = 'content' | 'beats' | 'processes' | 'late calls' | 'ghosts' | 'faults left' | 'stops';

/**
 * What identifies a state: both stores, what each process knows and waits for, and the faults that are left. `leftOut` is
 * for the test of that all of it is needed.
 */
export function stateKey(world: World, leftOut?: KeyPart): string {
  const { content, processes, orphans, ghosts, faultsLeft, stops, rows } = world;
  const order = passesInOrder(world);
  const parts: Record<KeyPart, string> = {
    content,
    // They change nothing but these, and who reaps compares them with what it has seen.
    beats: [...rows.workers.values()].map(({ counter }) => counter).join(),
    processes: processes.map((process) => processText(world, process, order)).join('\n'),
    'late calls': orphans
      .map((call) => callText(world, call, order))
      .sort()
      .join(),
    ghosts: ghosts.text(),
    'faults left': [...faultsLeft.values()].join(),
    stops: String(stops),
  };
  if (leftOut !== undefined) parts[leftOut] = '';
  return digest(Object.values(parts).join('\n'));
}

/** Of the passes that the table and calls under way tell of, only which is the older one matters. */
function passesInOrder({ table, processes, orphans }: World): (pass: string) => number {
  const ofTable = table.state.keyspaces.get(table.state.epoch?.number ?? '')?.pass ?? 0n;
  const calls = [...processes.flatMap((process) => process.calls), ...orphans];
  const passes = new Set([ofTable, ...calls.flatMap((call) => passOf(call) ?? []).map(BigInt)]);
  const order = [...passes].sort((a, b) => Number(a - b));
  const own = order.indexOf(ofTable);
  return (pass) => order.indexOf(BigInt(pass)) - own;
}

function passOf({ op, args }: Call): string | undefined {
  const pass = op === 'enter' ? args[1] : op === 'takeOut' ? args[2] : undefined;
  return pass as string | undefined;
}

function processText(world: World, process: ModelProcess, order: (pass: string) => number): string {
  const { status, history, calls, timers, handlers, beats, node } = process;
  if (status === 'crashed') return status;
  const texts = [
    ...calls.map(
      (call) => `${callText(world, call, order)}=${call.answer === null ? '' : textOf(call.answer)}`,
    ),
    ...timers.map(
      (timer) =>
        `${timer.ms}${timer.setIn < world.version}${timer.setAfter < process.deliveries}${timer.afterFault}`,
    ),
    ...[...process.begunIn].map(([name, version]) => `${name}${version < world.version}`),
  ];
  const woken = process.wokenIn === world.version ? 'woken now' : '';
  return `${status}${woken}${history}${beats}${node.beatsNoMore}${handlers.length}${texts.join()}`;
}

/** Of its pass only its place among the others, and of its transaction whether it is still open. */
function callText(world: World, call: Call, order: (pass: string) => number): string {
  const { op, args, process, orphaned } = call;
  const head = `${process.name}${orphaned}${op}`;
  const pass = passOf(call);
  if (pass !== undefined) return `${head}${order(pass)}${textOf(args.filter((arg) => arg !== pass))}`;
  const [transaction, ...others] = args;
  if (typeof transaction !== 'number') return `${head}${textOf(args)}`;
  const isOpen = world.transactions.openTransactions().some(({ id }) => id === transaction);
  return `${head}${isOpen}${textOf(others)}`;
}
