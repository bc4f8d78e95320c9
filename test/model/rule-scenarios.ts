import type { Scenario } from './scenario.js';
import { lateCalls } from './late-call-scenarios.js';

const alone = [{ exclusive: ['a'] }];
const conflicting = [...alone, ...alone];
const one = [{ slots: 1 }];
const two = [{ slots: 1 }, { slots: 1 }];

const wholeBeat = [
  ...['w1: begins to beat', 'w1: runningOf', 'w1: hears the answer to runningOf'],
  ...['w1: readRegistry', 'w1: hears the answer to readRegistry'],
  ...['w1: runningOf', 'w1: hears the answer to runningOf'],
];

/** Each leads to where one rule of the protocol is needed: see the mutants that name it. */
export const ruleScenarios: Scenario[] = [
  ...lateCalls,
  {
    ...{
      name: 'cancel where nobody claims',
      set: 'medium',
      tasks: alone,
      workers: [],
      clients: ['cancel t1'],
    },
    about: 'A task is canceled, and no worker is there that would find its hold.',
  },
  {
    ...{ name: 'claim from an epoch that is over', set: 'walked', tasks: alone, workers: two },
    about:
      'A claim reaches the store when the table that granted it has been lost, and another has been built.',
    faults: { 'lost table': 1 },
    script: [
      ...['w1: is woken', 'w1: claim is executed', 'the table loses everything'],
      ...['w2: is woken', 'w2: commit is executed', 'w1: claimTasks(t1.1) is executed'],
    ],
  },
  {
    ...{ name: 'claim while a table is built', set: 'walked', tasks: alone, workers: two },
    about: 'A claim reaches the store when another table is being built, and what runs has been read for it.',
    faults: { 'lost table': 1 },
    script: [
      ...['w1: is woken', 'w1: claim is executed', 'the table loses everything'],
      ...['w2: is woken', 'w2: runningLike is executed', 'w1: claimTasks(t1.1) is executed'],
    ],
  },
  {
    ...{
      name: 'give-back by a worker that is reaped',
      set: 'walked',
      tasks: alone,
      workers: one,
      sweepers: 1,
    },
    about: 'A worker gives a claim in doubt back, freezes and is reaped before the store hears of it.',
    faults: { 'lost reply': 1, freeze: 1 },
    script: [
      ...['w1: is woken', 'w1 gets no answer to claimTasks', 'late, w1: claimTasks(t1.1)', 'w1 freezes'],
      ...['s1: reapWorker', 'w1: giveBackTasks'],
    ],
  },
  {
    ...{ name: 'lost table under what is being canceled', set: 'walked', tasks: conflicting, workers: two },
    about: 'A task that is being canceled still runs when the table is lost and another is built.',
    ...{ clients: ['cancel t1'], faults: { 'lost table': 1 }, beats: 0 },
    script: [
      ...['w1: is woken', 'w1: claimTasks(t1.1) is executed', 'cancel t1: cancelTask'],
      ...['the table loses everything', 'w2: is woken', 'w2: commit is executed', 'w1: the run of t1'],
    ],
  },
  {
    ...{ name: 'enter of an older pass', set: 'medium', tasks: alone, workers: [], admitters: 2 },
    about:
      'What an admitter entered without an answer comes in when the task was canceled; no worker is there.',
    ...{ clients: ['cancel t1'], faults: { 'lost reply': 1 }, failing: ['a'] },
    script: [
      ...['a1 gets no answer to enter', 'the server ends', 'a1: markAdmitted', 'cancel t1: cancelTask'],
      ...['a1: takeOut(t1.1)', 'a1: commit is executed', 'late, a1: enter'],
    ],
  },
  {
    ...{ name: 'enter of a pass before a take-out', set: 'walked', tasks: alone, workers: [], admitters: 2 },
    about: 'The same where the pass that takes the task out is the first that the table would hear of.',
    ...{ clients: ['cancel t1'], faults: { 'lost reply': 1 }, failing: ['a'] },
    script: [
      ...['a1 gets no answer to enter', 'cancel t1: cancelTask', 'the server ends', 'a1: takeOut(t1.1)'],
      ...['a1: commit is executed', 'late, a1: enter'],
    ],
  },
  {
    ...{ name: 'enter after a fail-over', set: 'walked', tasks: conflicting, workers: two },
    about: 'A fail-over forgets the hold of what runs, and then the retry of one that conflicts comes in.',
    ...{ faults: { throw: 1, 'lost hold': 1 }, unordered: true },
    script: [
      ...['w1: is woken', 'w1: claim is executed', 'w1: claimTasks(t1.1)', 'w1: the run of t1 throws'],
      ...['w1: release(t1.1)', 'w2: is woken', 'w2: claim is executed', 'w2: claimTasks(t2.1)'],
      ...['the table forgets the hold of t2', 'a1: enter(t1.2)', 'w1: claim is executed'],
      ...['w1: claimTasks(t1.2)', 'w1: hears the answer to claimTasks', 'w2: the run of t2'],
    ],
  },
  {
    ...{ name: 'pause while a hold moves on', set: 'walked', tasks: alone, workers: one, sweepers: 1 },
    about:
      'A queue is paused between the give-back of what a dead worker ran and the move of its hold, which comes with the entry after the one that is to be taken out.',
    ...{ clients: ['pause'], faults: { crash: 1 }, failing: ['w1'], staysPaused: true, unordered: true },
    script: [
      ...['w1: claimTasks(t1.1) is executed', 'w1 crashes', 's1: settleLostHolds', 'pause: pauseQueue'],
      ...['pause: continuePause is executed', 's1: getTask', 's1: move(t1.1', 'a1: takeOut(t1.2)'],
    ],
  },
  {
    ...{ name: 'entered in vain', set: 'walked', tasks: alone, workers: one, sweepers: 1, stops: 1 },
    about:
      'A claim of a lost table is given back while a pass enters that entry anew; then its worker stops.',
    faults: { 'lost table': 1, 'lost reply': 1 },
    script: [
      ...['a1: tasksToAdmit', 'a1: enter', 'a1: commit', 'w1: is woken', 'w1 gets no answer to claimTasks'],
      ...['the table loses everything', 'w1: commit is executed', 'a1: begins to look'],
      ...[
        'a1: tasksToAdmit is executed',
        'w1: giveBackTasks',
        'w1: begins to stop',
        'a1: enter',
        'a1: commit is executed',
      ],
    ],
  },
  {
    ...{ name: 'beat while a task is retried', set: 'walked', tasks: alone, workers: one, beats: 1 },
    about:
      'A task is retried, and its hold released, while a beat has read the registry and not yet compared it.',
    ...{ faults: { throw: 1 }, unordered: true },
    script: [
      ...[
        'w1: claimTasks(t1.1) is executed',
        'w1: the run of t1 throws',
        'w1: finishTasks(t1.1) is executed',
      ],
      ...['w1: begins to beat', 'w1: readRegistry is executed', 'w1: release(t1.1) is executed'],
      ...['w1: hears the answer to release', 'w1: hears the answer to readRegistry'],
    ],
  },
  {
    ...{ name: 'beats while a claim is under way', set: 'walked', workers: [{ slots: 2 }], beats: 2 },
    tasks: [{ exclusive: ['a'] }, { exclusive: ['b'] }, { exclusive: ['a'] }],
    about: 'Two beats find what a claim has taken whose answer is still on its way.',
    script: [
      ...[
        'w1: is woken',
        'w1: claim is executed',
        'w1: claimTasks(t1.1, t2.1)',
        'w1: the run of t1 completes',
      ],
      ...['w1: finishTasks(t1.1)', 'w1: release(t1.1)', 'w1: is woken', 'w1: the run of t2 completes'],
      ...['w1: claim is executed', ...wholeBeat, ...wholeBeat, 'w1: hears the answer to claim'],
      ...['w1: claimTasks(t3.1)', 'w1: giveBackTasks(t3.1)', 'w1: hears the answer to claimTasks'],
      ...['w1: hears the answer to giveBackTasks', 'w1: move', 'w1: the run of t3', 'w1: finishTasks(t2.1)'],
    ],
  },
];
