import type { TakeOutAnswer } from '../../lock-table.js';
import { asWord } from '../reply.js';
import type { Script } from '../script-runner.js';
import { decimal } from './hold-arguments.js';

interface TakingOut {
  promotionLimit: number;
  pass: string;
  holds: readonly { task: string; entry: number }[];
}

export const takeOut: Script<TakingOut, TakeOutAnswer[]> = {
  name: 'take-out',
  encode: ({ promotionLimit, pass, holds }) => [
    promotionLimit,
    decimal(pass),
    ...holds.flatMap(({ task, entry }) => [task, entry]),
  ],
  decode: ([, ...answers]) =>
    answers.map((answer) => asWord(answer, ['taken-out', 'gone', 'stale', 'owned'])),
};
