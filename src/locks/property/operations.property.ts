import fc from 'fast-check';
import type { Owner } from '../../owner.js';

/** Names that try to reach each other: one is a prefix of another, or holds the separator. */
export const owners: Owner[] = [
  { name: 'a', incarnation: '1' },
  { name: 'a', incarnation: '12' },
  { name: 'a:1', incarnation: '1' },
  { name: 'b', incarnation: '2' },
];
export const resources: string[] = ['r', 'r:1', '{r}', '\u{1f600}', '\uffee'];
export const lanes: string[] = ['lane', 'lane:1', '\u{1f600}'];
export const tasks: string[] = ['t', 't:1', '{t}', '\u{1f600}', '\uffee', 't1', 't2', 't3'];

/** A hold to enter: of a task that has none, where `fresh`; `later` is added to the last entry that its task had. */
export interface EnterOne {
  task: number;
  fresh: boolean;
  later: number;
  exclusive: number[];
  shared: number[];
  lane: number;
  priority: number;
  place: number;
}

/** One of the holds that are there, counted round, perhaps named wrongly. */
export interface Pick {
  nth: number;
  wrongEntry: number;
  wrongOwner: boolean;
}

/** One step. Numbers are resolved against the state before the step, so that most steps do something. */
export type Operation = HoldOperation | OtherOperation;

export type HoldOperation =
  | { do: 'enter'; holds: EnterOne[]; olderPass: boolean }
  | { do: 'enterNow'; owner: number; holds: EnterOne[] }
  | { do: 'claim'; owner: number; lanes: number[]; limit: number; knows: boolean }
  | { do: 'move'; picks: Pick[] }
  | { do: 'repeatMove' }
  | { do: 'release'; picks: Pick[]; ofAll: boolean }
  | { do: 'takeOut'; picks: Pick[]; pass: 'older' | 'newer' | null }
  | { do: 'newEpoch' };

export type OtherOperation =
  | { do: 'mend'; picks: Pick[] }
  | { do: 'continuePromotions' }
  | { do: 'listOwner'; owner: number }
  | { do: 'unlistOwner'; owner: number }
  | { do: 'findOwners'; owner: number; by: 'all' | 'name' | 'prefix'; after: number | null; limit: number }
  | { do: 'readRegistry'; owner: number; after: number | null; limit: number }
  | { do: 'look'; waitersEach: number }
  | { do: 'wakeAdmission' }
  | { do: 'takeWakeUp'; lanes: number[] }
  | { do: 'otherEpoch' };

/** False where a sequence shrinks. */
const rarely: fc.Arbitrary<boolean> = fc.nat({ max: 7 }).map((number) => number === 7);
const index = (list: unknown[]): fc.Arbitrary<number> => fc.nat({ max: list.length - 1 });
const some = (list: unknown[], maxLength: number): fc.Arbitrary<number[]> =>
  fc.array(index(list), { maxLength });

const enterOne: fc.Arbitrary<EnterOne> = fc.record({
  task: index(tasks),
  fresh: fc.nat({ max: 3 }).map((number) => number < 3),
  later: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.integer({ min: -1, max: 2 }) },
  ),
  exclusive: some(resources, 2),
  shared: some(resources, 3),
  lane: index(lanes),
  priority: fc.integer({ min: -1, max: 1 }),
  place: fc.integer({ min: 1, max: 12 }),
});

const pick: fc.Arbitrary<Pick> = fc.record({
  nth: fc.nat({ max: 20 }),
  wrongEntry: fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(-1, 1) },
  ),
  wrongOwner: rarely,
});
const picks = fc.array(pick, { minLength: 1, maxLength: 3 });
const passOfTakeOut = fc.option(fc.constantFrom('older' as const, 'newer' as const));
const owner = index(owners);
const after = fc.option(fc.nat({ max: 7 }));
const limit = fc.integer({ min: 0, max: 3 });

const changes: [number, fc.Arbitrary<Operation>][] = [
  [
    14,
    fc.record({
      do: fc.constant('enter' as const),
      holds: fc.array(enterOne, { minLength: 1, maxLength: 4 }),
      olderPass: rarely,
    }),
  ],
  [
    3,
    fc.record({ do: fc.constant('enterNow' as const), owner, holds: fc.array(enterOne, { maxLength: 2 }) }),
  ],
  [
    9,
    fc.record({
      do: fc.constant('claim' as const),
      owner,
      lanes: some(lanes, 4),
      limit,
      knows: fc.boolean(),
    }),
  ],
  [3, fc.record({ do: fc.constant('move' as const), picks })],
  [1, fc.constant({ do: 'repeatMove' as const })],
  [8, fc.record({ do: fc.constant('release' as const), picks, ofAll: rarely })],
  [3, fc.record({ do: fc.constant('takeOut' as const), picks, pass: passOfTakeOut })],
  [1, fc.record({ do: fc.constant('mend' as const), picks })],
  [1, fc.constant({ do: 'continuePromotions' as const })],
  [2, fc.record({ do: fc.constant('listOwner' as const), owner })],
  [2, fc.record({ do: fc.constant('unlistOwner' as const), owner })],
  [1, fc.constant({ do: 'wakeAdmission' as const })],
  [1, fc.record({ do: fc.constant('takeWakeUp' as const), lanes: some(lanes, 3) })],
  [1, fc.constant({ do: 'otherEpoch' as const })],
  [1, fc.constant({ do: 'newEpoch' as const })],
];

const looks: [number, fc.Arbitrary<Operation>][] = [
  [
    2,
    fc.record({
      do: fc.constant('findOwners' as const),
      owner,
      by: fc.constantFrom('all', 'name', 'prefix'),
      after,
      limit,
    }),
  ],
  [2, fc.record({ do: fc.constant('readRegistry' as const), owner, after, limit })],
  [2, fc.record({ do: fc.constant('look' as const), waitersEach: limit })],
];

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  ...[...changes, ...looks].map(([weight, arbitrary]) => ({ weight, arbitrary })),
);

/** Sequences of operations of several owners on a few contended resources. */
export const operations: fc.Arbitrary<Operation[]> = fc.array(operation, {
  minLength: 1,
  maxLength: 60,
  size: 'max',
});
