import { parseOwner } from '../../../owner.js';
import type { LockView } from '../../lock-table.js';
import { asList, asNumber, asText, asTextOrNull, asTexts, asWord, rowsOf } from '../reply.js';
import type { Script } from '../script-runner.js';
import { timestampOf, timestampOrNull } from './timestamps.js';

interface Inspecting {
  resources: readonly string[];
  waitersEach: number;
}

const modes = { none: null, string: 'exclusive', set: 'shared' } as const;

export const inspectLocks: Script<Inspecting, LockView[]> = {
  name: 'inspect-locks',
  encode: ({ resources, waitersEach }) => [waitersEach, ...resources],
  decode: ([, ...views], { resources }) =>
    views.map((view, index) => {
      const [kind, waitingCount, holders, waiters] = asList(view);
      return {
        resource: asText(resources[index]),
        mode: modes[asWord(kind, ['none', 'string', 'set'])],
        holders: rowsOf(asList(holders), 7).map(holderView).sort(byTask),
        waiting: asTexts(waiters).map(waiterView),
        waitingCount: asNumber(waitingCount),
      };
    }),
};

type Holder = LockView['holders'][number];

function holderView([task, entry, owner, fence, enteredAt, grantedAt, ownedAt]: unknown[]): Holder {
  const ownerText = asTextOrNull(owner);
  return {
    task: asText(task),
    entry: entry === null ? 0 : asNumber(entry),
    owner: ownerText === null ? null : parseOwner(ownerText),
    fence: asTextOrNull(fence),
    since: timestampOrNull(ownedAt) ?? timestampOrNull(grantedAt) ?? timestampOf(enteredAt ?? '0'),
  };
}

function byTask(a: Holder, b: Holder): number {
  return Buffer.compare(Buffer.from(a.task), Buffer.from(b.task));
}

function waiterView(waiter: string, index: number): LockView['waiting'][number] {
  const mode = waiter.startsWith('x') ? 'exclusive' : 'shared';
  return { task: waiter.slice(1), mode, position: index + 1 };
}
