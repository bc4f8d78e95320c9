/** A rule of the protocol left out: in the store of the model by the name of its guard, or in the sources by their text. */
export type Mutant = { name: string; rule: string; scenario: string; walks?: number; explained?: string } & (
  | { guardsOff: string[] }
  | SourceMutant
);

export interface SourceMutant {
  /** Within src. */
  file: string;
  /** There exactly once. */
  from: string;
  to: string;
}

export const mutants: Mutant[] = [
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
    scenario: 'lost table',
    guardsOff: ['claim-checks-epoch'],
    walks: 3000,
  },
  {
    name: 'a claim does not wait for a rebuild',
    rule: '4.4: after taking the namespace’s advisory lock',
    scenario: 'lost table',
    guardsOff: ['claim-waits-for-rebuild'],
    walks: 3000,
  },
  {
    name: 'a finish does not compare entries',
    rule: '4.6: guarded by entry',
    scenario: 'lost reply and throw',
    guardsOff: ['finish-checks-entry'],
  },
  {
    name: 'a finish does not compare workers',
    rule: '4.6: guarded by worker',
    scenario: 'lost reply and throw',
    guardsOff: ['finish-checks-worker'],
    explained: 'an entry is claimed by one worker only, so that its number tells the worker too',
  },
  {
    name: 'a finish does not ask whether its worker is reaped',
    rule: '4.6: not reaped',
    scenario: 'crash',
    guardsOff: ['finish-checks-reaped'],
  },
  {
    name: 'a give-back does not compare entries',
    rule: '4.4: give back raises the entry that is in doubt',
    scenario: 'two lost replies',
    guardsOff: ['give-back-checks-entry'],
  },
  {
    name: 'a give-back does not ask whether its worker is reaped',
    rule: '5 (1): no give-back of that incarnation can succeed',
    scenario: 'freeze and lost reply',
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
    explained: 'a take-out leaves alone what is owned, and what has ended has no hold',
  },
  {
    name: 'a rebuild leaves out what is being canceled',
    rule: '1: canceling counts as running',
    scenario: 'lost table and cancel',
    guardsOff: ['rebuild-counts-canceling'],
    walks: 2000,
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
    explained:
      'a claim that the pause refuses gives back and releases the hold; only where no worker claims would it block others',
  },
  {
    name: 'a claim is taken up after its reply was lost',
    rule: '4.4: reply lost: give back, never take up',
    scenario: 'lost reply',
    file: 'worker/claiming.ts',
    from: "      givingBack.add(claims, 'move');\n      throw error;",
    to: '      void error; outcome = await incarnation.store.claimTasks({ worker: incarnation.owner.incarnation, epoch, claims });',
    explained:
      'asked again, the store says that the task runs here already, and that answer is not taken up either',
  },
  {
    name: 'a claim in doubt is forgotten',
    rule: '4.4: anything unknown: give back',
    scenario: 'lost reply',
    file: 'worker/claiming.ts',
    from: "      givingBack.add(claims, 'move');\n      throw error;",
    to: '      throw error;',
  },
  {
    name: 'a fenced worker claims on',
    rule: '4.4: a worker that cannot prove that it lives takes nothing (found here)',
    scenario: 'freeze',
    file: 'worker/claiming.ts',
    from: "      if (!incarnation.mayAct()) return 'nothing';",
    to: '',
    walks: 15,
    explained:
      'it lists itself and is swept again and again, which the model’s sweepers put right; found by the depth of the exploration',
  },
  {
    name: 'a handler begins without asking the clock',
    rule: 'G1: the last moment to find that the time has passed',
    scenario: 'freeze',
    file: 'worker/attempt.ts',
    from: "      if (!this.#ports.incarnation.mayAct()) return { end: 'fenced' };",
    to: '',
  },
  {
    name: 'what was found unknown once is given back',
    rule: '4.4: what two successive beats found unknown',
    scenario: 'beats',
    file: 'worker/comparing-with-memory.ts',
    from: 'unknown.filter((hold) => this.#suspects.has(holdKey(hold)))',
    to: 'unknown',
  },
  {
    name: 'a comparison does not wait for claims under way',
    rule: '4.4: with no claim call outstanding',
    scenario: 'beats',
    file: 'worker/comparing-with-memory.ts',
    from: 'await claiming.quietly(() => inCurrentEpoch(incarnation, (epoch) => this.#compareIn(epoch)));',
    to: 'await inCurrentEpoch(incarnation, (epoch) => this.#compareIn(epoch));',
  },
  {
    name: 'beats compare nothing',
    rule: '4.4: at each beat a worker compares its registry and its running rows with its memory',
    scenario: 'lost reply',
    file: 'worker/comparing-with-memory.ts',
    from: "    givingBack.add(twice, 'move');",
    to: '',
  },
  {
    name: 'a refused finish lets the locks go, whatever the task does now',
    rule: '4: a roll-back runs under the same locks',
    scenario: 'lost reply in a roll-back',
    file: 'worker/finishing.ts',
    from: 'await this.#givingBack.goesOnOrIsOver(refused.map(overIfRefused));',
    to: 'this.#releasing.add(refused.map(overIfRefused));',
  },
  {
    name: 'a release compares neither entry nor owner',
    rule: '3: every script that touches a hold names (task, entry, owner)',
    scenario: 'lost reply and throw',
    file: 'locks/memory/release.ts',
    from: 'if (hold !== undefined && (hold.owner !== owner || hold.entry !== item.entry)) {',
    to: "if (hold !== undefined && hold.status !== 'owned') {",
  },
  {
    name: 'a take-out takes what is owned',
    rule: '4.2: an entered hold is taken out unless the task runs with that entry',
    scenario: 'pause and resume',
    file: 'locks/memory/take-out.ts',
    from: "  if (hold.owner !== null) return 'owned';",
    to: '',
  },
  {
    name: 'the table takes an older pass',
    rule: '4.2: the script refuses an older pass',
    scenario: 'admitter fails',
    file: 'locks/memory/enter.ts',
    from: "  if (number < call.space.pass) return 'older-pass';",
    to: '',
  },
  {
    name: 'the table does not ask who the server is',
    rule: '3: every script checks the server’s identity first',
    scenario: 'lost hold',
    file: 'locks/memory/call.ts',
    from: "  if (row.identity !== state.identity) throw new EpochRefused('identity', epoch);",
    to: '',
  },
  {
    name: 'a free lock is taken past its queue',
    rule: 'G3: readers behind a writer wait for it',
    scenario: 'readers and a writer',
    file: 'locks/memory/enter.ts',
    from: '  if (!space.queues.has(resource) && isCompatible(space, resource, mode, hold.task)) {',
    to: '  if (isCompatible(space, resource, mode, hold.task)) {',
  },
  {
    name: 'a new epoch is opened empty',
    rule: '5: a rebuild enters the running-like tasks',
    scenario: 'lost table, conflict',
    file: 'recovery/open-epoch.ts',
    from: '  const holds = await enterRunning(opening, rebuild, epoch);',
    to: '  const holds = 0; void enterRunning;',
  },
  {
    name: 'what a committed pass entered in vain stays',
    rule: '4.2: where the mark is refused, an entered hold is taken out',
    scenario: 'cancel',
    file: 'worker/admission.ts',
    from: '    if (outcome.takeOuts.length > 0) this.#takeOuts = { epoch, tasks: outcome.takeOuts };',
    to: '',
  },
  {
    name: 'what a cancel marked is not taken out',
    rule: '4.2: the same pass works off take-outs',
    scenario: 'cancel',
    file: 'worker/admission-pass.ts',
    from: '    const tookOut = await takeOutMarked(table, admission, epoch);',
    to: '    const tookOut = 0; void takeOutMarked;',
  },
  {
    name: 'a sweep forgets the registry',
    rule: '5 (3): the registry: a hold whose task waits with that very entry is given back',
    scenario: 'crash',
    file: 'recovery/cleanup-locks-for-owner.ts',
    from: '    await settleRegistry(recovery, owner);',
    to: '    void settleRegistry;',
  },
  {
    name: 'a sweep forgets what ran',
    rule: '5 (2): each running-like task by its policy',
    scenario: 'crash',
    file: 'recovery/cleanup-locks-for-worker.ts',
    from: 'const { settled, final } = await settleLostTasks(recovery, worker);',
    to: 'const { settled, final } = { settled: [] as { task: string; entry: number }[], final: [] as string[] }; void settleLostTasks;',
  },
];
