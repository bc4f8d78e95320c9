import type { Scenario, ScenarioTask } from './scenario.js';

const admitted: ScenarioTask[] = [{ exclusive: ['a'], admitted: true }];
const one = [{ slots: 1 }];
const alone = { tasks: admitted, workers: one, admitters: 0, set: 'medium' } as const;

/** One task that somebody gone has admitted, and one worker: each fault by itself, small enough to be seen to the end. */
export const smallScenarios: Scenario[] = [
  {
    ...{ ...alone, name: 'cancel, alone', clients: ['cancel t1'], beats: 1 },
    about: 'What was admitted is canceled, and its worker beats once.',
  },
  {
    ...{ ...alone, name: 'beat, alone', beats: 1 },
    about: 'No fault: a beat of the only worker, which compares stores and memory.',
  },
  {
    ...{ ...alone, name: 'stop, alone', stops: 1, set: 'long' },
    about: 'The only worker is asked to stop, at any moment.',
  },
  {
    ...{ ...alone, name: 'crash, alone', sweepers: 1, faults: { crash: 1 } },
    about: 'The only worker dies, and is swept.',
  },
  {
    ...{ ...alone, name: 'crash, two sweepers, alone', sweepers: 2, faults: { crash: 1 } },
    about: 'The only worker dies, and two clean up after it at once.',
  },
  {
    ...{ ...alone, name: 'freeze, alone', sweepers: 1, faults: { freeze: 1 } },
    about: 'The only worker freezes, is swept, and wakes.',
  },
  {
    ...{ ...alone, name: 'lost reply and crash, alone', sweepers: 1, faults: { 'lost reply': 1, crash: 1 } },
    about: 'The only worker gets no answer to a call, and dies.',
  },
];
