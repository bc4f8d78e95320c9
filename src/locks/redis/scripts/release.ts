import { ownerText } from '../../../owner.js';
import type { OwnedHold, ReleaseAnswer } from '../../lock-table.js';
import { asWord } from '../reply.js';
import type { Script } from '../script-runner.js';

interface Releasing {
  promotionLimit: number;
  holds: readonly OwnedHold[];
}

export const release: Script<Releasing, ReleaseAnswer[]> = {
  name: 'release',
  encode: ({ promotionLimit, holds }) => [
    promotionLimit,
    ...holds.flatMap(({ task, entry, owner }) => [task, entry, ownerText(owner)]),
  ],
  decode: ([, ...answers]) => answers.map((answer) => asWord(answer, ['released', 'gone', 'stale'])),
};
