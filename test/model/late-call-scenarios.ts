import type { Scenario } from './scenario.js';

const alone = [{ exclusive: ['a'] }];
const one = [{ slots: 1 }];
const two = [{ slots: 1 }, { slots: 1 }];

/** What comes late, after its sender has gone on, or is dead. */
export const lateCalls: Scenario[] = [
  {
    ...{ name: 'finish that comes late', set: 'walked', tasks: alone, workers: one },
    about: 'A finish without an answer is repeated, and comes in when the same worker runs the next entry.',
    ...{ faults: { 'lost reply': 1, throw: 1 }, unordered: true },
    script: [
      ...['w1: is woken', 'w1: the run of t1 throws', 'w1 gets no answer to finishTasks'],
      ...['w1: finishTasks(t1.1)', 'w1: claimTasks(t1.2)', 'late, w1: finishTasks', 'w1: the run of t1'],
    ],
  },
  {
    ...{ name: 'finish that comes late to another', set: 'walked', tasks: alone, workers: two },
    about: 'A finish without an answer is repeated, and comes in when another worker runs the next entry.',
    ...{ faults: { 'lost reply': 1, throw: 1 }, unordered: true },
    script: [
      ...['w1: is woken', 'w1: the run of t1 throws', 'w1 gets no answer to finishTasks'],
      ...['w1: finishTasks(t1.1)', 'w2: is woken', 'w2: claim is executed', 'w2: claimTasks(t1.2)'],
      ...['late, w1: finishTasks', 'w2: the run of t1'],
    ],
  },
  {
    ...{ name: 'finish of a worker that is reaped', set: 'walked', tasks: alone, workers: one, sweepers: 1 },
    about: 'A worker dies when it has sent a finish, which comes in when it is reaped.',
    faults: { crash: 1 },
    script: [
      ...['w1: is woken', 'w1: the run of t1 completes', 'w1 crashes', 's1: reapWorker'],
      ...['late, w1: finishTasks', 's1: settleLostTasks'],
    ],
  },
  {
    ...{ name: 'give-back that comes late', set: 'walked', tasks: alone, workers: one },
    about:
      'A give-back without an answer is repeated, and comes in when the same worker runs the next entry.',
    faults: { 'lost reply': 2 },
    script: [
      ...['w1: is woken', 'w1 gets no answer to claimTasks', 'w1 gets no answer to giveBackTasks'],
      ...['w1: giveBackTasks', 'w1: claimTasks(t1.2)', 'late, w1: giveBackTasks', 'w1: the run of t1'],
    ],
  },
  {
    ...{ name: 'answer to one that was frozen', set: 'walked', tasks: alone, workers: two, sweepers: 1 },
    about: 'A worker freezes in a claim, is swept, and hears of it when another runs the task.',
    faults: { freeze: 1 },
    script: [
      ...[
        'w1: is woken',
        'w1: claim is executed',
        'w1 freezes',
        'w1: claimTasks(t1.1)',
        's1: settleLostTasks',
      ],
      ...['w2: is woken', 'w2: claimTasks(t1.2)', 'w1 wakes', 'w1: hears', 'w1: finds', 'w2: the run of t1'],
    ],
  },
];
