import type { EnterAnswer, EnteringHold } from '../../lock-table.js';
import { asWord } from '../reply.js';
import type { Script } from '../script-runner.js';
import { decimal, holdArguments } from './hold-arguments.js';

interface Entering {
  promotionLimit: number;
  pass: string;
  holds: readonly EnteringHold[];
}

const words = ['granted', 'queued', 'already', 'busy', 'newer'] as const;

export const enter: Script<Entering, EnterAnswer[] | 'older-pass'> = {
  name: 'enter',
  encode: ({ promotionLimit, pass, holds }) => [
    promotionLimit,
    decimal(pass),
    ...holds.flatMap(holdArguments),
  ],
  decode([status, ...answers]) {
    if (status === 'older-pass') return status;
    return answers.map((answer) => {
      const word = asWord(answer, words);
      if (word === 'granted' || word === 'queued') return { status: 'entered', granted: word === 'granted' };
      return { status: word };
    });
  },
};
