import type { Mode } from '../resources.js';
import type { HoldDump, TableDump } from './table-dump.js';

/**
 * What is wrong with a table between two calls, one sentence each; nothing when it is sound. While calls that died
 * half-way are not repaired, only the first can be asked: that nothing is granted that may not be.
 */
export function brokenInvariants(dump: TableDump, options: { unrepaired?: boolean } = {}): string[] {
  const table = indexed(dump);
  if (options.unrepaired) return [...lockFaults(table)];
  return [
    ...lockFaults(table),
    ...holdFaults(table),
    ...queueFaults(table),
    ...laneFaults(table),
    ...registryFaults(table),
    ...emptinessFaults(table),
  ];
}

interface IndexedTable {
  dump: TableDump;
  holds: Map<string, HoldDump>;
  waits: Map<string, Set<string>>;
  locks: Map<string, { mode: Mode; tasks: Set<string> }>;
  queues: Map<string, { task: string; mode: Mode; order: number }[]>;
}

function indexed(dump: TableDump): IndexedTable {
  return {
    dump,
    holds: new Map(dump.holds.map((hold) => [hold.task, hold])),
    waits: new Map(dump.waits.map(({ task, resources }) => [task, new Set(resources)])),
    locks: new Map(
      dump.locks.map(({ resource, mode, tasks }) => [resource, { mode, tasks: new Set(tasks) }]),
    ),
    queues: new Map(dump.queues.map(({ resource, waiters }) => [resource, waiters])),
  };
}

/** G1: a lock admits one exclusive task or any shared ones; who is granted or owned has all its locks. */
function* lockFaults({ dump, holds, locks }: IndexedTable): Generator<string> {
  for (const { resource, mode, tasks } of dump.locks) {
    if (mode === 'exclusive' && tasks.length !== 1) yield `${resource} has ${tasks.length} exclusive holders`;
    for (const task of tasks) {
      const hold = holds.get(task);
      if (hold === undefined) yield `${resource} is held by ${task}, which has no hold`;
      else if (!hold[mode].includes(resource))
        yield `${resource} is held by ${task}, which does not name it so`;
    }
  }
  for (const hold of dump.holds) {
    if (hold.status !== 'granted' && hold.status !== 'owned') continue;
    for (const [resource, mode] of resourcesOf(hold)) {
      const lock = locks.get(resource);
      if (lock?.mode !== mode || !lock.tasks.has(hold.task)) {
        yield `${hold.task} is ${hold.status} without the lock ${resource}`;
      }
    }
  }
}

/** G2: a hold has each of its resources or queues for it, and waits for exactly those it queues for. */
function* holdFaults({ dump, holds, waits, locks, queues }: IndexedTable): Generator<string> {
  for (const hold of dump.holds) {
    const waitsFor = waits.get(hold.task);
    if (hold.status === 'entering') yield `${hold.task} is entering between two calls`;
    if ((hold.status === 'queued') !== (waitsFor !== undefined)) {
      yield `${hold.task} is ${hold.status} and waits for ${waitsFor?.size ?? 0}`;
    }
    if ((hold.status === 'owned') !== (hold.owner !== null))
      yield `${hold.task} is ${hold.status} by ${hold.owner}`;
    for (const [resource, mode] of resourcesOf(hold)) {
      const lock = locks.get(resource);
      const has = lock?.mode === mode && lock.tasks.has(hold.task);
      const waiting = waitsFor?.has(resource) ?? false;
      const waiters = queues.get(resource) ?? [];
      const inQueue = waiters.some((waiter) => waiter.task === hold.task && waiter.mode === mode);
      if (has === waiting || waiting !== inQueue) {
        yield `${hold.task}: of ${resource}, has ${has}, waits ${waiting}, queues ${inQueue}`;
      }
    }
  }
  for (const task of waits.keys()) if (!holds.has(task)) yield `${task} waits and has no hold`;
}

/** G3: a queue is in order, behind all who hold; its head is blocked, or a mark promises its promotion. */
function* queueFaults({ dump, holds, locks }: IndexedTable): Generator<string> {
  const marks = new Set(dump.marks);
  for (const { resource, waiters } of dump.queues) {
    const lock = locks.get(resource);
    const holders = [...(lock?.tasks ?? [])];
    let last = Math.max(0, ...holders.map((task) => holds.get(task)?.order ?? 0));
    for (const { task, mode, order } of waiters) {
      const hold = holds.get(task);
      if (order <= last) yield `${task} waits for ${resource} out of order`;
      if (hold?.order !== order || !hold[mode].includes(resource))
        yield `${task} waits for ${resource} without a hold`;
      last = order;
    }
    const head = waiters[0];
    if (head === undefined || marks.has(resource)) continue;
    const admits = lock === undefined || (head.mode === 'shared' && lock.mode === 'shared');
    if (admits) yield `nothing blocks ${head.task}, the head of ${resource}, and no mark promises it`;
  }
  const queued = new Set(dump.queues.map(({ resource }) => resource));
  for (const resource of dump.marks)
    if (!queued.has(resource)) yield `${resource} is marked and has no queue`;
}

/** Granted holds are ready in their lane, by priority and place; lanes are those with ready holds. */
function* laneFaults({ dump }: IndexedTable): Generator<string> {
  const expected = new Set<string>();
  for (const { status, lane, priority, place, task } of dump.holds) {
    if (status === 'granted')
      expected.add(JSON.stringify([lane, priority, `${place.padStart(19, '0')}:${task}`]));
  }
  for (const { lane, members } of dump.ready) {
    for (const [index, { priority, member }] of members.entries()) {
      if (!expected.delete(JSON.stringify([lane, priority, member])))
        yield `${member} is ready and not granted`;
      const before = members[index - 1];
      if (before === undefined) continue;
      if (before.priority < priority || (before.priority === priority && !isBefore(before.member, member))) {
        yield `${member} is ready out of order in ${lane}`;
      }
    }
  }
  for (const missing of expected) yield `${missing} is granted and not ready`;
  const lanes = dump.ready.map(({ lane }) => lane);
  if (lanes.join('\n') !== dump.lanes.join('\n')) yield `lanes ${dump.lanes.join()}, ready ${lanes.join()}`;
  for (const { lane } of dump.wakeUps.lanes)
    if (!lanes.includes(lane)) yield `${lane} has wake-ups and no holds`;
}

/** G4: registries and owners agree both ways, and only a listed owner holds. */
function* registryFaults({ dump, holds }: IndexedTable): Generator<string> {
  const owners = new Set(dump.owners);
  const registered = new Set<string>();
  for (const { owner, tasks } of dump.registries) {
    if (!owners.has(owner)) yield `${owner} holds and is not listed`;
    for (const task of tasks) {
      registered.add(task);
      if (holds.get(task)?.owner !== owner) yield `${owner} has ${task} in its registry and does not own it`;
    }
  }
  for (const { task, owner } of dump.holds) {
    if (owner !== null && !registered.has(task)) yield `${task} is in no registry of its owner ${owner}`;
  }
}

/** Without holds, only the constant keys are left. */
function* emptinessFaults({ dump }: IndexedTable): Generator<string> {
  if (dump.holds.length > 0) return;
  const { waits, locks, queues, ready, lanes, registries, marks, wakeUps } = dump;
  const left = { waits, locks, queues, ready, lanes, registries, marks, laneWakeUps: wakeUps.lanes };
  for (const [key, list] of Object.entries(left)) {
    if (list.length > 0) yield `an empty table leaves ${key}: ${JSON.stringify(list)}`;
  }
}

function resourcesOf(hold: HoldDump): [string, Mode][] {
  return [
    ...hold.exclusive.map((resource): [string, Mode] => [resource, 'exclusive']),
    ...hold.shared.map((resource): [string, Mode] => [resource, 'shared']),
  ];
}

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}
