import type { Policies } from '../../src/store/store.js';
import type { Scenario, ScenarioTask } from './scenario.js';
import { lockScenarios } from './lock-scenarios.js';

const conflicting: ScenarioTask[] = [{ exclusive: ['a'] }, { exclusive: ['a'] }];
const alone: ScenarioTask[] = [{ exclusive: ['a'] }];
const three: ScenarioTask[] = [
  { exclusive: ['a'] },
  { exclusive: ['b'], shared: ['a'] },
  { shared: ['a', 'b'] },
];
const one = [{ slots: 1 }];
const two = [{ slots: 1 }, { slots: 1 }];

function withPolicies(tasks: ScenarioTask[], policies: Partial<Policies>): ScenarioTask[] {
  return tasks.map((task) => ({ ...task, policies }));
}

const undoable = { rollbackTimeoutMs: 60_000 };
const unclaimed = { rollbackTimeoutMs: 0, maxAttempts: 1 };

/** Small descriptions, from the plainest to pairs of faults. t1, t2, … are dispatched in this order. */
export const scenarios: Scenario[] = [
  {
    ...{ name: 'plain', set: 'quick', tasks: conflicting, workers: one },
    about: 'No fault: one worker, one admitter, two tasks that conflict.',
  },
  {
    ...{ name: 'two slots', set: 'quick', tasks: three, workers: [{ slots: 2 }, { slots: 2 }] },
    about:
      'No fault: three tasks on two resources, readers among them; each worker has calls of two tasks in flight.',
  },
  {
    ...{ name: 'two admitters', set: 'quick', tasks: three, workers: one, admitters: 2 },
    about: 'No fault: two processes admit.',
  },
  {
    ...{
      name: 'throw',
      set: 'long',
      tasks: conflicting,
      workers: two,
      faults: { throw: 2 },
      unordered: true,
    },
    about: 'Handlers throw, and are retried.',
  },
  {
    ...{ name: 'cancel', set: 'medium', tasks: conflicting, workers: one, clients: ['cancel t1'] },
    about: 'A task is canceled at any moment of its life.',
    beats: 1,
  },
  {
    ...{ name: 'pause and resume', set: 'medium', tasks: alone, workers: one, clients: ['pause and resume'] },
    about: 'The queue is paused and resumed at any moment.',
    unordered: true,
  },
  {
    ...{ name: 'roll-back', set: 'medium', tasks: withPolicies(conflicting, undoable), workers: two },
    about: 'A handler throws, and what it did is rolled back under its locks, by either worker.',
    faults: { throw: 1 },
    unordered: true,
  },
  {
    ...{
      name: 'unclaimed roll-back',
      set: 'medium',
      tasks: withPolicies(conflicting, unclaimed),
      workers: one,
    },
    about: 'The same where the time of the roll-back may be over before anybody claims it.',
    faults: { throw: 1 },
  },
  {
    ...{ name: 'stop', set: 'medium', tasks: conflicting, workers: two, stops: 1, sweepers: 1 },
    about: 'A worker is asked to stop, at any moment.',
  },
  {
    ...{
      name: 'lost reply',
      set: 'medium',
      tasks: alone,
      workers: two,
      faults: { 'lost reply': 1 },
      beats: 0,
    },
    about: 'Any call of a worker gets no answer: it is executed at once, at any later time, or never.',
  },
  {
    ...{ name: 'lost reply, conflict', set: 'long', tasks: conflicting, workers: two },
    about: 'The same with a second task that conflicts.',
    faults: { 'lost reply': 1 },
  },
  {
    ...{ name: 'admitter fails', set: 'medium', tasks: conflicting, workers: one, admitters: 2 },
    about: 'An admitter gets no answer to any one of its calls, within a pass or not.',
    faults: { 'lost reply': 1 },
    failing: ['a'],
  },
  {
    ...{ name: 'admitter crashes', set: 'medium', tasks: conflicting, workers: one, admitters: 2 },
    about: 'An admitter dies at any moment; its session ends sooner or later.',
    faults: { crash: 1 },
    failing: ['a'],
  },
  {
    ...{ name: 'killed session', set: 'medium', tasks: conflicting, workers: one, admitters: 2 },
    about: 'The server ends the session of a pass, which finds out at its next call.',
    faults: { 'killed session': 1 },
  },
  {
    ...{ name: 'crash', set: 'medium', tasks: alone, workers: two, sweepers: 1, faults: { crash: 1 } },
    about:
      'A worker dies at any moment, and is swept; what it had sent is executed at any later time, or never.',
  },
  {
    ...{ name: 'crash, conflict', set: 'long', tasks: conflicting, workers: two, sweepers: 1 },
    about: 'The same with a second task that conflicts.',
    faults: { crash: 1 },
  },
  {
    ...{ name: 'crash, two sweepers', set: 'long', tasks: alone, workers: two, sweepers: 2 },
    about: 'The same with two processes that clean up at once.',
    faults: { crash: 1 },
  },
  {
    ...{ name: 'two incarnations', set: 'long', tasks: alone, workers: two, sweepers: 1, heir: true },
    about: 'A worker dies, and comes back under its name while others sweep the old incarnation.',
    faults: { crash: 1 },
    failing: ['w1'],
  },
  {
    ...{ name: 'freeze', set: 'medium', tasks: alone, workers: two, sweepers: 1, faults: { freeze: 1 } },
    about:
      'A worker freezes beyond its deadline, is swept, and wakes at any moment before, while or after that.',
  },
  {
    ...{ name: 'freeze, conflict', set: 'long', tasks: conflicting, workers: two, sweepers: 1 },
    about: 'The same with a second task that conflicts.',
    faults: { freeze: 1 },
  },
  {
    ...{ name: 'lost table', set: 'medium', tasks: alone, workers: one, faults: { 'lost table': 1 } },
    about: 'The table loses all it has at any moment, and whoever is refused builds another.',
  },
  {
    ...{ name: 'lost table, conflict', set: 'long', tasks: conflicting, workers: two },
    about: 'The same with two workers and two tasks that conflict.',
    faults: { 'lost table': 1 },
  },
  {
    ...{ name: 'lost hold', set: 'long', tasks: conflicting, workers: two, faults: { 'lost hold': 1 } },
    about: 'A failover forgets any one hold.',
  },
  {
    ...{ name: 'half-executed', set: 'medium', tasks: alone, workers: one, faults: { cut: 1 } },
    about: 'Any call of the table dies before any one of its writes.',
  },
  {
    ...{ name: 'crash in a roll-back', set: 'long', tasks: withPolicies(alone, undoable), workers: two },
    about: 'A handler throws, and a worker dies, in whatever order.',
    faults: { throw: 1, crash: 1 },
    sweepers: 1,
    unordered: true,
  },
  {
    ...{ name: 'cancel and crash', set: 'long', tasks: alone, workers: two, clients: ['cancel t1'] },
    about: 'A task is canceled, and a worker dies.',
    faults: { crash: 1 },
    sweepers: 1,
  },
  {
    ...{ name: 'cancel and lost reply', set: 'long', tasks: alone, workers: one, clients: ['cancel t1'] },
    about: 'A task is canceled, and its worker gets no answer to a call.',
    faults: { 'lost reply': 1 },
  },
  {
    ...{
      name: 'pause and lost reply',
      set: 'long',
      tasks: alone,
      workers: one,
      clients: ['pause and resume'],
    },
    about: 'The queue is paused and resumed, and a worker gets no answer to a call.',
    faults: { 'lost reply': 1 },
    unordered: true,
  },
  {
    ...{ name: 'lost table and lost reply', set: 'long', tasks: alone, workers: one },
    about: 'The table loses everything, and a worker gets no answer to a call.',
    faults: { 'lost table': 1, 'lost reply': 1 },
  },
  {
    ...{ name: 'lost table and crash', set: 'long', tasks: alone, workers: two, sweepers: 1 },
    about: 'The table loses everything, and a worker dies, who may be building it anew.',
    faults: { 'lost table': 1, crash: 1 },
  },
  {
    ...{ name: 'stop and lost reply', set: 'long', tasks: alone, workers: two, stops: 1, sweepers: 1 },
    about: 'A worker is asked to stop and gets no answer to a call: what it cannot end is swept.',
    faults: { 'lost reply': 1 },
  },
  {
    ...{ name: 'lost table and cancel', set: 'long', tasks: conflicting, workers: two },
    about: 'The table loses everything while a task is being canceled.',
    ...{ clients: ['cancel t1'], faults: { 'lost table': 1 }, beats: 0 },
  },
  {
    ...{
      name: 'lost table and roll-back',
      set: 'long',
      tasks: withPolicies(conflicting, undoable),
      workers: two,
    },
    about: 'The table loses everything while a task rolls back.',
    ...{ faults: { 'lost table': 1, throw: 1 }, unordered: true },
  },
  {
    ...{
      name: 'lost reply in a roll-back',
      set: 'long',
      tasks: withPolicies(conflicting, undoable),
      workers: one,
    },
    about: 'A handler throws, and its worker gets no answer to a call.',
    ...{ faults: { 'lost reply': 1, throw: 1 }, unordered: true },
  },
  {
    ...{ name: 'lost reply and throw', set: 'long', tasks: alone, workers: two },
    about: 'A handler throws and is retried, and a worker gets no answer to a call.',
    ...{ faults: { 'lost reply': 1, throw: 1 }, unordered: true },
  },
  {
    ...{ name: 'pause and conflict', set: 'long', tasks: conflicting, workers: one, clients: ['pause'] },
    about: 'The queue is paused for good: nothing of it stays in the table.',
    unordered: true,
    staysPaused: true,
  },
  {
    ...{ name: 'two lost replies', set: 'long', tasks: alone, workers: one },
    about: 'Two calls of a worker get no answer.',
    faults: { 'lost reply': 2 },
  },
  {
    ...{ name: 'freeze and lost reply', set: 'long', tasks: alone, workers: one, sweepers: 1 },
    about: 'A worker gets no answer to a call, and freezes.',
    faults: { 'lost reply': 1, freeze: 1 },
  },
  {
    ...{ name: 'lost lane', set: 'long', sweepers: 1, faults: { crash: 1 }, failing: ['w1'] },
    about: 'The only worker of a lane dies at any moment; what waits in that lane makes room for others.',
    tasks: [{ exclusive: ['a'], name: 'rare', admitted: true }, { exclusive: ['a'] }],
    workers: [{ slots: 1, serves: 'rare' }, { slots: 1 }],
    losesLane: true,
  },
  {
    ...{ name: 'beats', set: 'medium', tasks: alone, workers: one, beats: 2 },
    about: 'No fault: two beats at any moment, each of which compares stores and memory.',
  },
  {
    ...{ name: 'readers and a writer', set: 'quick', workers: one },
    tasks: [{ shared: ['a'] }, { exclusive: ['a'] }, { shared: ['a'] }],
    about: 'No fault: a reader, a writer and a reader.',
  },
  ...lockScenarios,
];
