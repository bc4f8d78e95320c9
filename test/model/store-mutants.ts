import type { Mutant } from './mutant.js';

/** Guards of the store left out. */
export const storeMutants: Mutant[] = [
  {
    name: 'what was given back is not looked for in a lane that nobody serves',
    rule: 'G3: nobody waits for what nobody is there to run (found here)',
    scenario: 'lost lane',
    guardsOff: ['given-back-may-have-holds'],
  },
  {
    name: 'a claim does not compare entries',
    rule: '4.4: waiting → running for (task, entry)',
    scenario: 'pause and resume',
    guardsOff: ['claim-checks-entry'],
  },
  {
    name: 'a claim does not ask whether its worker is reaped',
    rule: '4.4: the worker’s row is locked and not reaped',
    scenario: 'crash',
    guardsOff: ['claim-checks-reaped'],
  },
  {
    name: 'a claim does not compare epochs',
    rule: '4.4: the epoch is still the one of the grant',
    scenario: 'claim from an epoch that is over',
    guardsOff: ['claim-checks-epoch'],
  },
  {
    name: 'a claim does not wait for a rebuild',
    rule: '4.4: after taking the namespace’s advisory lock',
    scenario: 'claim while a table is built',
    guardsOff: ['claim-waits-for-rebuild'],
  },
  {
    name: 'a finish does not compare entries',
    rule: '4.6: guarded by entry',
    scenario: 'finish that comes late',
    guardsOff: ['finish-checks-entry'],
  },
  {
    name: 'a finish does not compare workers',
    rule: '4.6: guarded by worker',
    scenario: 'finish that comes late to another',
    guardsOff: ['finish-checks-worker'],
    explained: 'an entry is claimed by one worker only, so that its number tells the worker too',
    walks: 20,
    onlyWith: { what: 'the entry that a finish compares', guardsOff: ['finish-checks-entry'] },
  },
  {
    name: 'a finish does not ask whether its worker is reaped',
    rule: '4.6: not reaped',
    scenario: 'finish of a worker that is reaped',
    guardsOff: ['finish-checks-reaped'],
  },
  {
    name: 'a give-back does not compare entries',
    rule: '4.4: give back raises the entry that is in doubt',
    scenario: 'give-back that comes late',
    guardsOff: ['give-back-checks-entry'],
  },
  {
    name: 'a give-back does not ask whether its worker is reaped',
    rule: '5 (1): no give-back of that incarnation can succeed',
    scenario: 'give-back by a worker that is reaped',
    guardsOff: ['give-back-checks-reaped'],
  },
  {
    name: 'a mark does not compare entries',
    rule: '4.2: the mark requires that the task waits with that very entry',
    scenario: 'throw',
    guardsOff: ['mark-checks-entry'],
  },
  {
    name: 'what runs is not spared when its mark is refused',
    rule: '4.2: unless the task runs with that very entry',
    scenario: 'plain',
    guardsOff: ['mark-spares-what-runs'],
    explained:
      'a take-out leaves alone what is owned, until it is released (see: a take-out takes what is owned), and what has ended has no hold',
  },
  {
    name: 'a rebuild leaves out what is being canceled',
    rule: '1: canceling counts as running',
    scenario: 'lost table under what is being canceled',
    guardsOff: ['rebuild-counts-canceling'],
  },
  {
    name: 'a rebuild leaves out what rolls back',
    rule: '1: rolling_back counts as running',
    scenario: 'lost table and roll-back',
    guardsOff: ['rebuild-counts-rolling-back'],
  },
  {
    name: 'a new epoch has the number of an old one',
    rule: '4: epoch numbers exceed any that was seen',
    scenario: 'lost table, conflict',
    guardsOff: ['epochs-grow'],
  },
  {
    name: 'a pause leaves entries and holds as they are',
    rule: '4: pausing raises the entries and takes the holds out',
    scenario: 'pause and conflict',
    guardsOff: ['pause-raises-entries'],
  },
];
