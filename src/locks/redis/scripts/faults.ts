import { ownerText, parseOwner } from '../../../owner.js';
import type { OwnedHold } from '../../lock-table.js';
import type {
  ExaminedHold,
  FaultPage,
  FaultPlace,
  HoldFault,
  MendAnswer,
  RegisterAnswer,
  TableFault,
} from '../../table-audit.js';
import { taskOfMember } from '../../fault-member.js';
import { asList, asNumber, asText, asTextOrNull, asWord, rowsOf, type Reply } from '../reply.js';
import type { Script } from '../script-runner.js';
import { timestampOf, timestampOrNull } from './timestamps.js';

/** A script that promotes nobody takes no promotion limit. */
const noPromotions = 0;

export const examineHolds: Script<{ tasks: readonly string[] }, ExaminedHold[]> = {
  name: 'examine-holds',
  encode: ({ tasks }) => [noPromotions, ...tasks],
  decode: ([, ...examined], { tasks }) =>
    examined.map((one, index) => examinedHold(asText(tasks[index]), asList(one))),
};

export const findFaults: Script<FaultPlace & { cursor: string | null }, FaultPage> = {
  name: 'find-faults',
  encode: ({ place, name, cursor }) => [noPromotions, place, name, cursor ?? '0'],
  decode: ([, next, ...found], { place, name }) => {
    const faults = rowsOf(found, 2).map(([member, stalled]): TableFault => {
      const text = asText(member);
      return { place, name, member: text, task: taskOfMember(place, name, text), stalled: stalled === 1 };
    });
    const byMember = (a: TableFault, b: TableFault): number =>
      Buffer.compare(Buffer.from(a.member), Buffer.from(b.member));
    return { faults: faults.sort(byMember), next: next === '0' ? null : asText(next) };
  },
};

export const mendFaults: Script<{ promotionLimit: number; faults: readonly TableFault[] }, MendAnswer[]> = {
  name: 'mend-faults',
  encode: ({ promotionLimit, faults }) => [
    promotionLimit,
    ...faults.flatMap(({ place, name, member, stalled }) => [place, name, member, stalled ? 1 : 0]),
  ],
  decode: ([, ...answers]) => answers.map((answer) => asWord(answer, ['mended', 'gone', 'sound'])),
};

export const registerHolds: Script<{ holds: readonly OwnedHold[] }, RegisterAnswer[]> = {
  name: 'register-holds',
  encode: ({ holds }) => holds.flatMap(({ task, entry, owner }) => [task, entry, ownerText(owner)]),
  decode: ([, ...answers]) => answers.map((answer) => asWord(answer, ['registered', 'gone', 'stale'])),
};

function examinedHold(
  task: string,
  [entry, status, owner, enteredAt, grantedAt, ownedAt, fault, resource]: Reply,
): ExaminedHold {
  if (entry === undefined) return { task, hold: null, fault: null };
  const text = asTextOrNull(owner);
  return {
    task,
    hold: {
      entry: asNumber(entry),
      status: asWord(status, ['entering', 'queued', 'granted', 'owned']),
      owner: text === null ? null : parseOwner(text),
      since: timestampOrNull(ownedAt) ?? timestampOrNull(grantedAt) ?? timestampOf(enteredAt),
    },
    fault: faultOf(fault, resource),
  };
}

function faultOf(fault: unknown, resource: unknown): HoldFault | null {
  const word = asWord(fault, ['', 'entering', 'unregistered', 'not-ready', 'lacks']);
  if (word === '') return null;
  return word === 'lacks' ? { fault: word, resource: asText(resource) } : { fault: word };
}
