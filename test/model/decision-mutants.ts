import type { Edit, Mutant } from './mutant.js';

const clearStale: Edit = {
  file: 'worker/admission-pass.ts',
  from: 'clearTakeOuts(gone, stale)',
  to: 'clearTakeOuts([...gone, ...stale])',
};

/** Decisions of workers, of admission, of a rebuild and of the clean-up left out. */
export const decisionMutants: Mutant[] = [
  {
    name: 'a claim is taken up after its reply was lost',
    rule: '4.4: reply lost: give back, never take up',
    scenario: 'lost reply',
    edits: [
      {
        file: 'worker/claiming.ts',
        from: "      givingBack.add(claims, 'move');\n      throw error;",
        to: '      void error; outcome = await incarnation.store.claimTasks({ worker: incarnation.owner.incarnation, epoch, claims });',
      },
    ],
    explained:
      'asked again, the store says that the task runs here already, and that answer is not taken up either',
  },
  {
    name: 'a claim in doubt is forgotten',
    rule: '4.4: anything unknown: give back',
    scenario: 'lost reply',
    edits: [
      {
        file: 'worker/claiming.ts',
        from: "      givingBack.add(claims, 'move');\n      throw error;",
        to: '      throw error;',
      },
    ],
  },
  {
    name: 'a fenced worker claims on',
    rule: '4.4: a worker that cannot prove that it lives takes nothing (found here)',
    scenario: 'freeze',
    edits: [
      {
        file: 'worker/claiming.ts',
        from: "      if (!incarnation.mayAct()) return 'nothing';",
        to: '',
      },
    ],
  },
  {
    name: 'a handler begins without asking the clock',
    rule: 'G1: the last moment to find that the time has passed',
    scenario: 'answer to one that was frozen',
    edits: [
      {
        file: 'worker/attempt.ts',
        from: "      if (!this.#ports.incarnation.mayAct()) return { end: 'fenced' };",
        to: '',
      },
    ],
  },
  {
    name: 'what was found unknown once is given back',
    rule: '4.4: what two successive beats found unknown',
    scenario: 'beat while a task is retried',
    walks: 20,
    edits: [
      {
        file: 'worker/comparing-with-memory.ts',
        from: 'unknown.filter((hold) => this.#suspects.has(holdKey(hold)))',
        to: 'unknown',
      },
    ],
    explained:
      'what one beat finds too much has come to its end meanwhile, so that its entry is over: a give-back and a release of it are refused',
    onlyWith: { what: 'the entry that a give-back compares', guardsOff: ['give-back-checks-entry'] },
  },
  {
    name: 'a comparison does not wait for claims under way',
    rule: '4.4: with no claim call outstanding',
    scenario: 'beats while a claim is under way',
    walks: 20,
    edits: [
      {
        file: 'worker/comparing-with-memory.ts',
        from: 'await claiming.quietly(() => inCurrentEpoch(incarnation, (epoch) => this.#compareIn(epoch)));',
        to: 'await inCurrentEpoch(incarnation, (epoch) => this.#compareIn(epoch));',
      },
    ],
    explained:
      'a claim does not take up what is being given back, and what was given back has another entry; but a claim that takes longer than two beats would be given back again and again',
    onlyWith: {
      what: 'that a claim leaves alone what is known',
      edits: [
        {
          file: 'worker/claiming.ts',
          from: 'const fresh = answer.holds.filter((hold) => !known.has(hold));',
          to: 'const fresh = answer.holds;',
        },
      ],
    },
  },
  {
    name: 'beats compare nothing',
    rule: '4.4: at each beat a worker compares its registry and its running rows with its memory',
    scenario: 'lost reply',
    edits: [
      {
        file: 'worker/comparing-with-memory.ts',
        from: "    givingBack.add(twice, 'move');",
        to: '',
      },
    ],
  },
  {
    name: 'a refused finish lets the locks go, whatever the task does now',
    rule: '4: a roll-back runs under the same locks',
    scenario: 'lost reply in a roll-back',
    edits: [
      {
        file: 'worker/finishing.ts',
        from: 'await this.#givingBack.goesOnOrIsOver(refused.map(overIfRefused));',
        to: 'this.#releasing.add(refused.map(overIfRefused));',
      },
    ],
  },
  {
    name: 'a new epoch is opened empty',
    rule: '5: a rebuild enters the running-like tasks',
    scenario: 'lost table, conflict',
    edits: [
      {
        file: 'recovery/open-epoch.ts',
        from: '  const holds = await enterRunning(opening, rebuild, epoch);',
        to: '  const holds = 0; void enterRunning;',
      },
    ],
  },
  {
    name: 'what a committed pass entered in vain stays',
    rule: '4.2: where the mark is refused, an entered hold is taken out',
    scenario: 'entered in vain',
    edits: [
      {
        file: 'worker/admission.ts',
        from: '    if (outcome.takeOuts.length > 0) this.#takeOuts = { epoch, tasks: outcome.takeOuts };',
        to: '',
      },
    ],
  },
  {
    name: 'what a cancel marked is not taken out',
    rule: '4.2: the same pass works off take-outs',
    scenario: 'cancel where nobody claims',
    edits: [
      {
        file: 'worker/admission-pass.ts',
        from: '    const tookOut = await takeOutMarked(table, admission, epoch);',
        to: '    const tookOut = 0; void takeOutMarked;',
      },
    ],
  },
  {
    name: 'a take-out leaves the table without its pass',
    rule: '4.2: a late request of a pass that died enters nothing (found here)',
    scenario: 'enter of a pass before a take-out',
    edits: [
      {
        file: 'worker/admission-pass.ts',
        from: 'await table.takeOut(epoch, marked, admission.pass);',
        to: 'await table.takeOut(epoch, marked);',
      },
    ],
  },
  {
    name: 'a sweep forgets the registry',
    rule: '5 (3): the registry: a hold whose task waits with that very entry is given back',
    scenario: 'crash',
    edits: [
      {
        file: 'recovery/cleanup-locks-for-owner.ts',
        from: '    await settleRegistry(recovery, owner);',
        to: '    void settleRegistry;',
      },
    ],
  },
  {
    name: 'a sweep forgets what ran',
    rule: '5 (2): each running-like task by its policy',
    scenario: 'crash',
    edits: [
      {
        file: 'recovery/cleanup-locks-for-worker.ts',
        from: 'const { settled, final } = await settleLostTasks(recovery, worker);',
        to: 'const { settled, final } = { settled: [] as { task: string; entry: number }[], final: [] as string[] }; void settleLostTasks;',
      },
    ],
  },
  {
    name: 'a later hold that a take-out finds is left where it is',
    rule: 'G3: what does not run reserves nothing, also where its hold was moving on (found here)',
    scenario: 'lost lane',
    ...{ edits: [clearStale] },
  },
  {
    name: 'a later hold that a take-out finds is left where it is, while its queue is paused',
    rule: '4: a pause takes the holds out, also one that was moving on (found here)',
    scenario: 'pause while a hold moves on',
    ...{ edits: [clearStale] },
  },
];
