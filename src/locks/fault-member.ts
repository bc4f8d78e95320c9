import type { FaultPlace } from './table-audit.js';

/** The task that a member of a place stands for: see README.md, "Keys". */
export function taskOfMember(place: FaultPlace['place'], name: string, member: string): string {
  if (place === 'waits') return name;
  if (place === 'queue') return member.slice(1);
  // A place of 19 digits and a colon come first.
  return place === 'ready' ? member.slice(20) : member;
}
