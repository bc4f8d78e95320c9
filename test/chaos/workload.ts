import type { Seeded } from './seeded.js';

/** What is asked of the system: the nth is the same for the same seed. */
export type Operation = Asked & { number: number; pauseMs: number };

type Asked =
  | ({ kind: 'dispatch' } & TaskOrder)
  | ({ kind: 'immediate'; deferred: boolean } & TaskOrder)
  | ({ kind: 'lock'; wait: number; ms: number } & Resources)
  /** Of the task that an earlier operation dispatched. */
  | { kind: 'cancel' | 'retry'; of: number };

export interface Resources {
  exclusive: string[];
  shared: string[];
}

export interface TaskOrder extends Resources {
  name: string;
  payload: { ms: number; failures: number } & Resources;
  queue: 'default' | 'side';
  priority: number;
  /** 0: at once. */
  delayMs: number;
  /** The transaction is rolled back: the task must never be seen. */
  undone: boolean;
}

/** Few enough for queues to form, enough for most work to go on beside them. */
const names = [
  ...Array.from({ length: 6 }, (_, number) => `hot:${number}`),
  ...Array.from({ length: 50 }, (_, number) => `cool:${number}`),
];

const definitions = [
  [22, 'inline'],
  [8, 'once'],
  [12, 'kept'],
  [14, 'rolls-back'],
  [14, 'child'],
  [6, 'child-rolls-back'],
  [6, 'deaf'],
  [3, 'spins'],
  [8, 'computes'],
] as const;

export type Definition = (typeof definitions)[number][1];

const inlineOnly: Definition[] = ['inline', 'once', 'kept', 'rolls-back', 'computes'];

export interface Workload {
  perSecond: number;
  /** How many of a hundred tasks take longer than a TTL: those must be stopped at its end. */
  longPercent: number;
  /** What they take; 3.5 to 7 s where it is not given. */
  longMs?: readonly [number, number];
  /** Only these, where it is given. */
  definitions?: Definition[];
  /** So few of the resources, the hot ones first; all where it is not given. */
  resources?: number;
  /** Every attempt fails. */
  failing?: boolean;
}

export function* operations(random: Seeded, workload: Workload): Generator<Operation> {
  for (let number = 0; ; number++) {
    const pauseMs = random.below((2 * 1_000) / workload.perSecond);
    yield { number, pauseMs, ...operation(random, number, workload) };
  }
}

function operation(random: Seeded, number: number, workload: Workload): Asked {
  const kind = random.weighted([
    [78, 'dispatch'],
    [6, 'immediate'],
    [6, 'lock'],
    [7, 'cancel'],
    [3, 'retry'],
  ] as const);
  const asked = (name: Definition): boolean => workload.definitions?.includes(name) ?? true;
  if (kind === 'dispatch') {
    const possible = definitions.filter(([, name]) => asked(name));
    return { kind, ...taskOrder(random, random.weighted(possible), workload) };
  }
  if (kind === 'immediate') {
    const order = taskOrder(random, random.pick(inlineOnly.filter(asked)) ?? 'inline', workload);
    return { kind, ...order, deferred: random.chance(50), undone: false, delayMs: 0 };
  }
  if (kind === 'lock') {
    return {
      kind,
      ...resources(random, workload),
      wait: random.pick([0, 200, 3_000]),
      ms: duration(random, workload),
    };
  }
  return { kind, of: Math.max(0, number - 1 - random.below(30)) };
}

function taskOrder(random: Seeded, definition: Definition, workload: Workload): TaskOrder {
  const wanted = resources(random, workload);
  const failures = random.weighted([
    [80, 0],
    [10, 1],
    [4, 2],
    [6, 9],
  ] as const);
  return {
    name: `chaos.${definition}`,
    ...(definition === 'computes' ? { exclusive: [], shared: [] } : wanted),
    payload: {
      ms: duration(random, workload),
      failures: workload.failing === true ? 9 : failures,
      ...wanted,
    },
    queue: random.chance(20) ? 'side' : 'default',
    priority: random.pick([0, 0, 0, 5, -5]),
    delayMs: random.chance(5) ? random.between(50, 2_000) : 0,
    undone: random.chance(2),
  };
}

function duration(random: Seeded, { longPercent, longMs = [3_500, 7_000] }: Workload): number {
  if (random.chance(longPercent)) return random.between(...longMs);
  return random.weighted([
    [60, random.between(2, 80)],
    [30, random.between(80, 400)],
    [10, random.between(400, 2_500)],
  ]);
}

function resources(random: Seeded, { resources: some = names.length }: Workload): Resources {
  const wanted = random.some(names.slice(0, some), random.pick([1, 1, 1, 2, 2, 3]));
  const exclusive = wanted.filter(() => random.chance(60));
  return { exclusive, shared: wanted.filter((name) => !exclusive.includes(name)) };
}
