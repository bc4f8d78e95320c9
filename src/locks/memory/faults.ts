import type { FaultPlace, MendAnswer, TableFault } from '../table-audit.js';
import { taskOfMember } from '../fault-member.js';
import { compareBytes } from './bytes.js';
import type { Call } from './call.js';
import { deleteWaits, giveUpLock, leaveQueue } from './hold-writes.js';
import { isCompatible, promote, trueHold } from './promote.js';
import { makeUnready } from './ready-holds.js';
import type { Keyspace, ReadyHold, Waiter } from './table-state.js';

/** All that a place has, by member: whether it leads to a hold, and how it goes. */
type Members = Map<string, { sound: boolean; remove: (call: Call) => void }>;

export function findFaults(space: Keyspace, { place, name }: FaultPlace): TableFault[] {
  const unsound = [...membersOf(space, place, name)].filter(([, { sound }]) => !sound);
  const faults = unsound.map(([member]) => faultOf(place, name, member, false));
  const head = place === 'queue' ? stalledHead(space, name) : null;
  if (head !== null) faults.push(faultOf(place, name, memberOf(head), true));
  return faults.sort((a, b) => compareBytes(a.member, b.member));
}

export function mendFaults(call: Call, faults: readonly TableFault[]): MendAnswer[] {
  return faults.map((fault) => (fault.stalled ? mendStalled(call, fault) : mend(call, fault)));
}

function mend(call: Call, { place, name, member }: TableFault): MendAnswer {
  const there = membersOf(call.space, place, name).get(member);
  if (there === undefined) return 'gone';
  if (there.sound) return 'sound';
  there.remove(call);
  if (place === 'lock' || place === 'queue') promote(call, name);
  return 'mended';
}

function mendStalled(call: Call, { name, member }: TableFault): MendAnswer {
  const head = stalledHead(call.space, name);
  if (head === null || memberOf(head) !== member) return 'gone';
  promote(call, name);
  return 'mended';
}

function membersOf(space: Keyspace, place: FaultPlace['place'], name: string): Members {
  switch (place) {
    case 'lock':
      return holdersOf(space, name);
    case 'queue':
      return waitersOf(space, name);
    case 'ready':
      return readyOf(space, name);
    case 'waits':
    default:
      return waitsOf(space, name);
  }
}

function holdersOf(space: Keyspace, resource: string): Members {
  const lock = space.locks.get(resource);
  const tasks = typeof lock === 'string' ? [lock] : [...(lock ?? [])];
  const mode = typeof lock === 'string' ? 'exclusive' : 'shared';
  return new Map(
    tasks.map((task) => {
      const sound = space.holds.get(task)?.[mode].includes(resource) === true;
      return [task, { sound, remove: (call) => giveUpLock(call, resource, task) }];
    }),
  );
}

function waitersOf(space: Keyspace, resource: string): Members {
  return new Map(
    [...(space.queues.get(resource) ?? [])].map((waiter) => {
      const sound = trueHold(space, resource, waiter) !== undefined;
      return [memberOf(waiter), { sound, remove: (call) => leaveQueue(call, resource, waiter) }];
    }),
  );
}

function readyOf(space: Keyspace, lane: string): Members {
  return new Map(
    [...(space.ready.get(lane) ?? [])].map((ready: ReadyHold) => {
      const { task, place } = ready;
      const hold = space.holds.get(task);
      const sound = hold?.status === 'granted' && hold.lane === lane && hold.place === place;
      return [`${place}:${task}`, { sound, remove: (call) => makeUnready(call, lane, ready) }];
    }),
  );
}

function waitsOf(space: Keyspace, task: string): Members {
  if (!space.waits.has(task)) return new Map();
  const sound = ['queued', 'entering'].includes(space.holds.get(task)?.status ?? '');
  return new Map([['', { sound, remove: (call) => deleteWaits(call, task) }]]);
}

/** The head of a queue where nothing blocks it and no mark promises its promotion. */
function stalledHead(space: Keyspace, resource: string): Waiter | null {
  const head = space.queues.get(resource)?.first();
  if (head === undefined || trueHold(space, resource, head) === undefined) return null;
  if (space.marks.has(resource)) return null;
  return isCompatible(space, resource, head.mode, head.task) ? head : null;
}

function memberOf({ mode, task }: Waiter): string {
  return (mode === 'exclusive' ? 'x' : 's') + task;
}

function faultOf(place: FaultPlace['place'], name: string, member: string, stalled: boolean): TableFault {
  return { place, name, member, task: taskOfMember(place, name, member), stalled };
}
