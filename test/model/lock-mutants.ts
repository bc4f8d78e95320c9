import type { Mutant } from './mutant.js';

/** Rules of ad-hoc locks, and of what runs at once, left out. */
export const lockMutants: Mutant[] = [
  {
    name: 'the lock that waits outlives its dead requester',
    rule: '5: the ad-hoc locks of a dead requester end with it',
    scenario: 'lock, crash',
    edits: [
      {
        file: 'recovery/cleanup-locks-for-worker.ts',
        from: 'const locks = await store.settleLostLocks(worker.incarnation);',
        to: "const locks: string[] | 'refused' = [];",
      },
    ],
  },
  {
    name: 'an insert of what runs at once does not compare epochs',
    rule: '4.4: the epoch is still the one of the hold',
    scenario: 'insert from an epoch that is over',
    guardsOff: ['insert-checks-epoch'],
  },
  {
    name: 'an insert of what runs at once does not wait for a rebuild',
    rule: '4.4: after taking the namespace’s advisory lock',
    scenario: 'insert while a table is built',
    guardsOff: ['insert-waits-for-rebuild'],
  },
  {
    name: 'an insert does not ask whether its worker is reaped',
    rule: '5 (1): nothing of that incarnation can succeed',
    scenario: 'insert of a process that is reaped',
    guardsOff: ['insert-checks-reaped'],
  },
  {
    name: 'a request whose reply was lost is not made impossible',
    rule: '4.4: what is unknown is ended before its hold goes',
    scenario: 'request that comes late',
    guardsOff: ['insert-checks-number'],
  },
  {
    name: 'a lock is taken up without asking the clock',
    rule: 'G1: the last moment to find that the time has passed',
    scenario: 'lock of one that was frozen',
    edits: [
      {
        file: 'api/own-inserts.ts',
        from: 'if (this.#ports.incarnation.mayAct()) return outcome.row;',
        to: 'return outcome.row;',
      },
    ],
  },
  {
    name: 'beats do not find what was claimed of a lock that was given up',
    rule: '4.4: what two successive beats found unknown (found here)',
    scenario: 'claim of a lock that was given up',
    edits: [
      {
        file: 'worker/comparing-with-memory.ts',
        from: "    givingBack.add(twice, 'move');",
        to: '',
      },
    ],
  },
  {
    name: 'a roll-back goes on only with a hold that has its place',
    rule: 'G1: a roll-back runs under the locks of its run (found by chaos)',
    scenario: 'task at once, rolled back',
    edits: [
      {
        file: 'recovery/settle-lost-holds.ts',
        from: "if (row.state === 'rolling_back') return row.entry;",
        to: '',
      },
    ],
  },
];
