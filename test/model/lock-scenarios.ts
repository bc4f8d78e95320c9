import type { Scenario } from './scenario.js';

const alone = [{ exclusive: ['a'] }];
const one = [{ slots: 1 }];
const waits = [{ does: 'waits for a lock' }] as const;
const takes = [{ does: 'takes a lock at once' }] as const;
const runs = [{ does: 'runs a task at once' }] as const;

/** A process that is no worker needs what a task needs: by an ad-hoc lock, or for a task that it runs at once. */
export const lockScenarios: Scenario[] = [
  {
    ...{ name: 'lock', set: 'quick', tasks: alone, workers: one, apis: [...waits] },
    about:
      'No fault: a process waits for a lock that a task needs too, and gives up at any moment or holds it.',
  },
  {
    ...{ name: 'lock at once', set: 'quick', tasks: alone, workers: one, apis: [...takes], unordered: true },
    about: 'No fault: a process takes a lock only where it is free at once.',
  },
  {
    ...{ name: 'task at once', set: 'quick', tasks: alone, workers: one, apis: [...runs], unordered: true },
    about: 'No fault: a process runs a task itself, where what it needs is free at once.',
  },
  {
    ...{
      name: 'lock, lost reply',
      set: 'medium',
      tasks: alone,
      workers: one,

      apis: [...waits],
    },
    about: 'Any call of a process that waits for a lock gets no answer.',
    ...{ faults: { 'lost reply': 1 }, failing: ['p'] },
  },
  {
    ...{ name: 'lock at once, lost reply', set: 'medium', tasks: alone, workers: one, apis: [...takes] },
    about: 'Any call of a process that takes a lock at once gets no answer.',
    ...{ faults: { 'lost reply': 1 }, failing: ['p'], unordered: true },
  },
  {
    ...{ name: 'task at once, lost reply', set: 'medium', tasks: alone, workers: one, apis: [...runs] },
    about: 'Any call of a process that runs a task at once gets no answer.',
    ...{ faults: { 'lost reply': 1 }, failing: ['p'], unordered: true },
  },
  {
    ...{ name: 'lock, crash', set: 'medium', tasks: alone, workers: one, apis: [...waits], sweepers: 1 },
    about: 'A process dies while it waits for a lock, or holds it, and is swept.',
    ...{ faults: { crash: 1 }, failing: ['p'] },
  },
  {
    ...{ name: 'lock at once, crash', set: 'medium', tasks: alone, workers: one, apis: [...takes] },
    about: 'A process dies while it takes a lock at once, or holds it, and is swept.',
    ...{ sweepers: 1, faults: { crash: 1 }, failing: ['p'], unordered: true },
  },
  {
    ...{ name: 'task at once, crash', set: 'medium', tasks: alone, workers: one, apis: [...runs] },
    about: 'A process dies while it runs a task at once, and is swept.',
    ...{ sweepers: 1, faults: { crash: 1 }, failing: ['p'], unordered: true },
  },
  {
    ...{ name: 'task at once, rolled back', set: 'medium', tasks: alone, workers: one, sweepers: 1 },
    about: 'A process dies while it runs a task at once, which a worker then rolls back under its locks.',
    apis: [{ does: 'runs a task at once', policies: { rollbackTimeoutMs: 60_000 } }],
    ...{ faults: { crash: 1 }, failing: ['p'], unordered: true },
  },
  {
    ...{ name: 'lock, lost table', set: 'long', tasks: alone, workers: one, apis: [...waits] },
    about: 'The table loses everything while a process waits for a lock, or holds it.',
    faults: { 'lost table': 1 },
  },
  {
    ...{ name: 'lock at once, lost table', set: 'long', tasks: alone, workers: one, apis: [...takes] },
    about: 'The table loses everything while a process takes a lock at once, or holds it.',
    ...{ faults: { 'lost table': 1 }, unordered: true },
  },
  {
    ...{ name: 'task at once, lost table', set: 'long', tasks: alone, workers: one, apis: [...runs] },
    about: 'The table loses everything while a process runs a task at once.',
    ...{ faults: { 'lost table': 1 }, unordered: true },
  },
  {
    ...{ name: 'lock alone, lost reply', set: 'medium', tasks: [], workers: [], apis: [...waits] },
    about: 'Any call of a process that waits for a lock, which nobody else needs, gets no answer.',
    ...{ faults: { 'lost reply': 1 }, failing: ['p'] },
  },
  {
    ...{ name: 'lock alone, two lost replies', set: 'long', tasks: [], workers: [], apis: [...takes] },
    about: 'Any two calls of a process that takes a lock at once, which nobody else needs, get no answer.',
    ...{ faults: { 'lost reply': 2 }, failing: ['p'] },
  },
  {
    ...{ name: 'lock alone, lost table', set: 'medium', tasks: [], workers: [], apis: [...takes] },
    about: 'The table loses everything while a process takes a lock at once that nobody else needs.',
    faults: { 'lost table': 1 },
  },
  {
    ...{ name: 'task alone, lost table', set: 'medium', tasks: [], workers: [], apis: [...runs] },
    about: 'The table loses everything while a process runs a task at once, and nobody else runs anything.',
    faults: { 'lost table': 1 },
  },
  {
    ...{ name: 'insert from an epoch that is over', set: 'walked', tasks: alone, workers: one },
    about:
      'What is to run at once reaches the store when the table of its hold was lost and another was built.',
    ...{ apis: [...runs], faults: { 'lost table': 1 }, unordered: true },
    script: [
      ...['p1: enterNow', 'the table loses everything', 'w1: is woken', 'w1: commit is executed'],
      'p1: insertRunning is executed',
    ],
  },
  {
    ...{ name: 'insert while a table is built', set: 'walked', tasks: alone, workers: one },
    about: 'The same when what runs has been read for the other table, which is not there yet.',
    ...{ apis: [...runs], faults: { 'lost table': 1 }, unordered: true },
    script: [
      ...['p1: enterNow', 'the table loses everything', 'w1: is woken', 'w1: runningLike is executed'],
      'p1: insertRunning is executed',
    ],
  },
  {
    ...{ name: 'insert of a process that is reaped', set: 'walked', tasks: alone, workers: one, sweepers: 1 },
    about: 'What was to run at once reaches the store when its process has died and been swept.',
    ...{ apis: [...runs], faults: { crash: 1 }, failing: ['p'], unordered: true },
    script: ['p1: enterNow', 'p1 crashes', 's1: removeWorker', 'late, p1: insertRunning'],
  },
  {
    ...{ name: 'request that comes late', set: 'walked', tasks: alone, workers: one, apis: [...waits] },
    about: 'A request for a lock gets no answer, and is executed when it was given up.',
    ...{ faults: { 'lost reply': 1 }, failing: ['p'] },
    script: ['p1 gets no answer to requestLock', 'p1: discardTasks', 'late, p1: requestLock'],
  },
  {
    ...{ name: 'lock of one that was frozen', set: 'walked', tasks: alone, workers: one, apis: [...takes] },
    about: 'A process freezes before it hears that it has a lock, is swept, and wakes when another has it.',
    ...{ sweepers: 1, faults: { freeze: 1 }, failing: ['p'], unordered: true },
    script: [
      ...['p1: enterNow', 'p1 freezes', 'p1: insertRunning is executed', 's1: reapWorker'],
      ...['w1: claimTasks(t1.1) is executed', 'p1 wakes', 'p1: hears the answer to insertRunning'],
      'w1: the run of t1',
    ],
  },
  {
    ...{ name: 'claim of a lock that was given up', set: 'walked', tasks: alone, workers: one },
    about:
      'A claim takes the hold of a lock after its release has found nothing to release: two beats find it.',
    apis: [...waits],
    script: [
      ...['p1: requestLock', 'w1: release(t1.1)', 'p1: is woken', 'p1: goes on after a pause of 60000 ms'],
      ...['p1: discardTasks', 'p1: release(p1#1.1) is executed', 'p1: claim is executed'],
      ...['p1: hears the answer to claim', 'p1: hears the answer to release'],
    ],
  },
];
