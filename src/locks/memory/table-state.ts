import type { Mode } from '../../resources.js';
import type { HoldStatus } from '../lock-table.js';
import { compareBytes } from './bytes.js';
import { SortedList } from './sorted-list.js';

/** Everything a lock table knows: plain data that the operations change at once and that can be cloned. */
export interface TableState {
  readonly promotionLimit: number;
  /** The server that this table is: an epoch built on another one is refused. */
  identity: string;
  epoch: EpochRow | null;
  keyspaces: Map<string, Keyspace>;
  admissionWakeUps: number;
  /** Raised with every wake-up that is pushed, so that whoever serves waiters need not look otherwise. */
  pushes: number;
  /** Called before every single write. A test that throws here sees an operation die half-way, as a script can. */
  beforeWrite: (() => void) | null;
}

export interface EpochRow {
  number: string;
  format: number;
  status: 'building' | 'open';
  identity: string;
}

/** The keys of one epoch, by the names that README.md gives them. Nothing empty is kept. */
export interface Keyspace {
  readonly epoch: string;
  holds: Map<string, Hold>;
  waits: Map<string, Set<string>>;
  /** The exclusive task, or the shared tasks. */
  locks: Map<string, string | Set<string>>;
  queues: Map<string, SortedList<Waiter>>;
  ready: Map<string, SortedList<ReadyHold>>;
  lanes: SortedList<string>;
  laneWakeUps: Map<string, number>;
  registries: Map<string, SortedList<string>>;
  owners: SortedList<string>;
  marks: SortedList<string>;
  pass: bigint;
  order: number;
  fence: number;
  lanesVersion: number;
}

export interface Hold {
  readonly task: string;
  entry: number;
  status: HoldStatus;
  /** `name:incarnation`. */
  owner: string | null;
  fence: string | null;
  readonly lane: string;
  readonly priority: number;
  /** 19 digits. */
  readonly place: string;
  readonly order: number;
  readonly exclusive: readonly string[];
  readonly shared: readonly string[];
  busy: boolean;
  /** Milliseconds since 1970. */
  readonly enteredAt: number;
  grantedAt: number | null;
  ownedAt: number | null;
}

export interface Waiter {
  readonly task: string;
  readonly mode: Mode;
  readonly order: number;
}

export interface ReadyHold {
  readonly task: string;
  readonly priority: number;
  readonly place: string;
}

export function createState(options: { identity: string; promotionLimit: number }): TableState {
  return {
    ...options,
    epoch: null,
    keyspaces: new Map(),
    admissionWakeUps: 0,
    pushes: 0,
    beforeWrite: null,
  };
}

export function createKeyspace(epoch: string): Keyspace {
  return {
    epoch,
    holds: new Map(),
    waits: new Map(),
    locks: new Map(),
    queues: new Map(),
    ready: new Map(),
    lanes: new SortedList(compareBytes),
    laneWakeUps: new Map(),
    registries: new Map(),
    owners: new SortedList(compareBytes),
    marks: new SortedList(compareBytes),
    pass: 0n,
    order: 0,
    fence: 0,
    lanesVersion: 0,
  };
}

export function compareOrder(a: Waiter, b: Waiter): number {
  return a.order - b.order;
}

/** Larger priorities first, then places, then tasks. */
export function compareReady(a: ReadyHold, b: ReadyHold): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.place !== b.place) return a.place < b.place ? -1 : 1;
  return compareBytes(a.task, b.task);
}
