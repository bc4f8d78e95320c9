import type { EnteringHold, EnterNowAnswer } from '../../lock-table.js';
import { asText, asWord, rowsOf } from '../reply.js';
import type { Script } from '../script-runner.js';
import { holdArguments } from './hold-arguments.js';

interface EnteringNow {
  owner: string;
  holds: readonly EnteringHold[];
}

export const enterNow: Script<EnteringNow, EnterNowAnswer[] | 'unlisted'> = {
  name: 'enter-now',
  encode: ({ owner, holds }) => [owner, ...holds.flatMap(holdArguments)],
  decode([status, ...answers]) {
    if (status === 'unlisted') return status;
    return rowsOf(answers, 2).map(([answer, detail]) => {
      const word = asWord(answer, ['owned', 'blocked', 'present']);
      if (word === 'present') return { status: word };
      return word === 'owned'
        ? { status: word, fence: asText(detail) }
        : { status: word, resource: asText(detail) };
    });
  },
};
