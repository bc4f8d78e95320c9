import { asText } from '../reply.js';
import type { Script } from '../script-runner.js';

export const identity: Script<null, string> = {
  name: 'identity',
  encode: () => [],
  decode: ([, text]) => asText(text),
};
