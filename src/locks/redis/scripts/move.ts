import { ownerText } from '../../../owner.js';
import type { Move, MoveAnswer } from '../../lock-table.js';
import { asWord } from '../reply.js';
import type { Script } from '../script-runner.js';

interface Moving {
  promotionLimit: number;
  moves: readonly Move[];
}

export const move: Script<Moving, MoveAnswer[]> = {
  name: 'move',
  encode: ({ promotionLimit, moves }) => [
    promotionLimit,
    ...moves.flatMap(({ task, entry, owner, nextEntry }) => [task, entry, ownerText(owner), nextEntry]),
  ],
  decode: ([, ...answers]) => answers.map((answer) => asWord(answer, ['moved', 'gone', 'stale'])),
};
