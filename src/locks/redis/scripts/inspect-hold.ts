import { parseOwner } from '../../../owner.js';
import type { HoldView } from '../../lock-table.js';
import { asList, asNumber, asText, asTextOrNull, asWord, rowsOf } from '../reply.js';
import type { Script } from '../script-runner.js';
import { unpackNames } from './hold-arguments.js';
import { timestampOf, timestampOrNull } from './timestamps.js';

export const inspectHold: Script<{ task: string }, HoldView | null> = {
  name: 'inspect-hold',
  encode: ({ task }) => [task],
  decode([found, ...fields], { task }) {
    if (found === 'none') return null;
    const [entry, status, owner, fence, lane, priority, place, exclusives, shareds] = fields;
    const [enteredAt, grantedAt, ownedAt, places] = fields.slice(9);
    const ownerText = asTextOrNull(owner);
    const exclusive = unpackNames(asText(exclusives));
    const isExclusive = new Set(exclusive);
    return {
      task,
      entry: asNumber(entry),
      status: asWord(status, ['entering', 'queued', 'granted', 'owned']),
      owner: ownerText === null ? null : parseOwner(ownerText),
      fence: asTextOrNull(fence),
      lane: asText(lane),
      priority: asNumber(priority),
      place: asText(place),
      exclusive,
      shared: unpackNames(asText(shareds)),
      waitsFor: rowsOf(asList(places), 2).map(([name, rank]) => {
        const resource = asText(name);
        const mode = isExclusive.has(resource) ? 'exclusive' : 'shared';
        return { resource, mode, position: asNumber(rank) + 1 };
      }),
      enteredAt: timestampOf(enteredAt),
      grantedAt: timestampOrNull(grantedAt),
      ownedAt: timestampOrNull(ownedAt),
    };
  },
};
