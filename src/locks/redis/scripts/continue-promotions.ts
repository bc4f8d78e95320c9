import { asNumber } from '../reply.js';
import type { Script } from '../script-runner.js';

export const continuePromotions: Script<{ promotionLimit: number }, number> = {
  name: 'continue-promotions',
  encode: ({ promotionLimit }) => [promotionLimit],
  decode: ([, marked]) => asNumber(marked),
};
