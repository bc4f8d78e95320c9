import type { RegistryEntry } from '../../lock-table.js';
import type { OwnerRange } from '../find-owners.js';
import { asNumber, asText, asTextOrNull, asTexts, asWord, rowsOf } from '../reply.js';
import type { Script } from '../script-runner.js';

export const listOwner: Script<{ owner: string }, void> = {
  name: 'list-owner',
  encode: ({ owner }) => [owner],
  decode: ([status]) => void asWord(status, ['ok']),
};

export const unlistOwner: Script<{ owner: string }, 'unlisted' | 'still-holds'> = {
  name: 'unlist-owner',
  encode: ({ owner }) => [owner],
  decode: ([status]) => asWord(status, ['unlisted', 'still-holds']),
};

export const findOwners: Script<OwnerRange, string[]> = {
  name: 'find-owners',
  encode: ({ from, to, limit }) => [from, to, limit],
  decode: ([, ...owners]) => asTexts(owners),
};

export const readRegistry: Script<{ owner: string; from: string; limit: number }, RegistryEntry[]> = {
  name: 'read-registry',
  encode: ({ owner, from, limit }) => [owner, from, limit],
  decode: ([, ...entries]) =>
    rowsOf(entries, 3).map(([task, entry, fence]) => {
      return {
        task: asText(task),
        entry: entry === null ? null : asNumber(entry),
        fence: asTextOrNull(fence),
      };
    }),
};
