import type { Mutant } from './mutant.js';

/** Guards of the table left out: of its executable specification, as the scripts keep them too. */
export const tableMutants: Mutant[] = [
  {
    name: 'a release compares neither entry nor owner',
    rule: '3: every script that touches a hold names (task, entry, owner)',
    scenario: 'lost reply and throw',
    edits: [
      {
        file: 'locks/memory/release.ts',
        from: 'if (hold !== undefined && (hold.owner !== owner || hold.entry !== item.entry)) {',
        to: "if (hold !== undefined && hold.status !== 'owned') {",
      },
    ],
  },
  {
    name: 'a take-out takes what is owned',
    rule: '4.2: an entered hold is taken out unless the task runs with that entry',
    scenario: 'pause and resume',
    edits: [
      {
        file: 'locks/memory/take-out.ts',
        from: "  if (hold.owner !== null) return 'owned';",
        to: '',
      },
    ],
  },
  {
    name: 'the table takes an older pass',
    rule: '4.2: the script refuses an older pass',
    scenario: 'enter of an older pass',
    edits: [
      {
        file: 'locks/memory/enter.ts',
        from: "  if (beginPass(call, pass) === 'older-pass') return 'older-pass';",
        to: '  beginPass(call, pass);',
      },
    ],
  },
  {
    name: 'the table does not ask who the server is',
    rule: '3: every script checks the server’s identity first',
    scenario: 'enter after a fail-over',
    edits: [
      {
        file: 'locks/memory/call.ts',
        from: "  if (row.identity !== state.identity) throw new EpochRefused('identity', epoch);",
        to: '',
      },
    ],
  },
  {
    name: 'a free lock is taken past its queue',
    rule: 'G3: readers behind a writer wait for it',
    scenario: 'readers and a writer',
    edits: [
      {
        file: 'locks/memory/enter.ts',
        from: '  if (!space.queues.has(resource) && isCompatible(space, resource, mode, hold.task)) {',
        to: '  if (isCompatible(space, resource, mode, hold.task)) {',
      },
    ],
  },
];
