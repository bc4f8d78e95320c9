import type { ClaimAnswer } from '../../lock-table.js';
import { asNumber, asText, asTexts, rowsOf } from '../reply.js';
import type { Script } from '../script-runner.js';

interface Claiming {
  promotionLimit: number;
  owner: string;
  /** At most 100. */
  limit: number;
  lanesVersion: string | null;
  lanes: readonly string[];
}

export const claim: Script<Claiming, ClaimAnswer | 'unlisted'> = {
  name: 'claim',
  encode: ({ promotionLimit, owner, limit, lanesVersion, lanes }) => [
    ...[promotionLimit, owner, limit, lanesVersion ?? ''],
    ...new Set(lanes),
  ],
  decode([status, lanesVersion, lanes, ...holds]) {
    if (status === 'unlisted') return status;
    return {
      holds: rowsOf(holds, 3).map(([task, entry, fence]) => {
        return { task: asText(task), entry: asNumber(entry), fence: asText(fence) };
      }),
      lanesVersion: asText(lanesVersion),
      lanes: lanes === null ? null : asTexts(lanes),
    };
  },
};
