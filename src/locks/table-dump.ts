import type { Mode } from '../resources.js';
import type { HoldStatus } from './lock-table.js';

/**
 * The whole keyspace of one epoch as plain data, for tests: two tables that answered alike must also dump alike.
 * Times and the server's identity are left out. Lists are in the order of UTF-8 bytes of their first field,
 * except where the table itself keeps an order (queues, ready). Nothing empty is listed.
 */
export interface TableDump {
  epoch: { number: string; format: number; status: 'building' | 'open' };
  /** Decimal strings; "0" where the key is absent. */
  counters: { pass: string; order: string; fence: string; lanesVersion: string };
  holds: HoldDump[];
  /** `waits:<task>`, whether or not the task has a hold. */
  waits: { task: string; resources: string[] }[];
  locks: { resource: string; mode: Mode; tasks: string[] }[];
  queues: { resource: string; waiters: { task: string; mode: Mode; order: number }[] }[];
  /** `member` is `<place, 19 digits>:<task>`. */
  ready: { lane: string; members: { priority: number; member: string }[] }[];
  lanes: string[];
  /** How many wake-ups wait: for admission, and for claims of each lane. */
  wakeUps: { admission: number; lanes: { lane: string; count: number }[] };
  registries: { owner: string; tasks: string[] }[];
  owners: string[];
  marks: string[];
}

export interface HoldDump {
  task: string;
  entry: number;
  status: HoldStatus;
  /** `name:incarnation`. */
  owner: string | null;
  fence: string | null;
  lane: string;
  priority: number;
  place: string;
  order: number;
  exclusive: string[];
  shared: string[];
  busy: boolean;
}
