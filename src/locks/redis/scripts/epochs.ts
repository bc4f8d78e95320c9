import type { EpochRecord } from '../../lock-table.js';
import { asNumber, asText, asWord } from '../reply.js';
import type { Script } from '../script-runner.js';

export const beginEpoch: Script<{ format: number }, 'begun' | 'not-newer'> = {
  name: 'begin-epoch',
  encode: ({ format }) => [format],
  decode: ([status]) => asWord(status, ['begun', 'not-newer']),
};

export const openEpoch: Script<null, 'opened' | 'not-building'> = {
  name: 'open-epoch',
  encode: () => [],
  decode: ([status]) => asWord(status, ['opened', 'not-building']),
};

export const readEpoch: Script<null, EpochRecord | null> = {
  name: 'read-epoch',
  encode: () => [],
  decode([found, epoch, format, status, identity, identityHolds]) {
    if (found === 'none') return null;
    return {
      epoch: asText(epoch),
      format: asNumber(format),
      status: asWord(status, ['building', 'open']),
      identity: asText(identity),
      identityHolds: identityHolds === 1,
    };
  },
};
