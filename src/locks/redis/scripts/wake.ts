import { asWord } from '../reply.js';
import type { Script } from '../script-runner.js';

/** `lane`: null wakes admission. */
export const wake: Script<{ lane: string | null }, void> = {
  name: 'wake',
  encode: ({ lane }) => [lane ?? ''],
  decode: ([status]) => void asWord(status, ['ok']),
};
