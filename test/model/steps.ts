import type { Call, Timer } from './process.js';
import type { World } from './world.js';

/** One thing that may happen next. */
export interface Choice {
  label(): string;
  /** Nothing waits for it: it may as well never happen. */
  optional: boolean;
  /** Of the timer that rings. */
  rings?: Timer;
  happen(): Promise<void>;
}

/** Executed, and answered at once where the process has nothing else under way that could be answered before. */
export function execution(world: World, call: Call): Choice {
  const { process, op } = call;
  return {
    label: () => `${process.name}: ${op}${shownArgs(call)} is executed`,
    optional: false,
    happen: async () => {
      await world.execute(call);
      if (process.runs && isAlone(call) && !call.orphaned) await world.deliver(call);
    },
  };
}

/** Whether its process waits for no other answer. */
export function isAlone({ process }: Call): boolean {
  return process.calls.filter(({ to }) => to !== 'wait').length === 1;
}

export function delivery(world: World, call: Call): Choice {
  return {
    label: () => `${call.process.name}: hears the answer to ${call.op}`,
    optional: false,
    happen: () => world.deliver(call),
  };
}

export function waking(world: World, call: Call): Choice {
  return {
    label: () => `${call.process.name}: is woken`,
    optional: false,
    happen: () => {
      if (call.process.status !== 'live') call.process.wokenIn = world.version;
      call.answer = { value: 'claim' };
      return world.deliver(call);
    },
  };
}

/** An answer that waits for nothing: its process has no other call under way. */
export function forced(world: World): Choice | null {
  for (const process of world.processes) {
    if (!process.runs) continue;
    const answered = process.calls.find(({ answer }) => answer !== null);
    if (answered !== undefined && isAlone(answered)) return delivery(world, answered);
  }
  return null;
}

type Named = string | { task?: string; id?: string; entry?: number };

function shownArgs({ op, args }: Call): string {
  const { claims } = (args[0] ?? {}) as { claims?: Named[] };
  const named = claims ?? args.find((arg): arg is Named[] => Array.isArray(arg) && arg.length > 0) ?? [];
  const names = named.map((one) => {
    if (typeof one === 'string') return one;
    return `${one.task ?? one.id ?? ''}${one.entry === undefined ? '' : `.${one.entry}`}`;
  });
  if (names.length > 0) return `(${names.join(', ')})`;
  return op === 'reapWorker' || op === 'runningOf' ? `(${String(args[0])})` : '';
}
