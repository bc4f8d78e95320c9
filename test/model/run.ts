import type { Scenario } from './scenario.js';
import type { Choice } from './steps.js';
import { forced } from './steps.js';
import { addAdmitter, addClient, addHeir, addSweeper, addWorkerProcess } from './actors.js';
import { begin, choicesOf, progressOf, ringing } from './choices.js';
import { Guards } from './guards.js';
import { addTask } from './rows.js';
import { World, type Automata } from './world.js';

const policies = {
  ...{ maxAttempts: 3, maxCrashes: 3, backoff: { initialMs: 0, maxMs: 0 } },
  ...{ onWorkerLost: null, timeoutMs: null, rollbackTimeoutMs: null },
} as const;

/** Beyond so many steps nothing comes to rest any more. */
const longestRest = 600;
const roundsToRest = 8;

/** One run of a scenario, from its beginning along a path of choices. */
export class Run {
  readonly world: World;
  readonly story: string[] = [];

  readonly #tells: boolean;

  constructor(world: World, tells = false) {
    this.world = world;
    this.#tells = tells;
  }

  /** Where a scenario begins. */
  static async begun(
    scenario: Scenario,
    guardsOff: readonly string[],
    { automata = new Map(), tells = false }: { automata?: Automata; tells?: boolean } = {},
  ): Promise<Run> {
    const run = new Run(new World(scenario, new Guards(guardsOff), automata), tells);
    await run.#begin();
    return run;
  }

  copy(): Run {
    return new Run(this.world.copy());
  }

  async #begin(): Promise<void> {
    const { world } = this;
    const { scenario } = world;
    await world.begin();
    for (const [index, task] of scenario.tasks.entries()) {
      const { exclusive = [], shared = [] } = task;
      addTask(world.rows, {
        ...{ id: `t${index + 1}`, exclusive, shared },
        policies: { ...policies, ...task.policies },
      });
    }
    for (const [index, { slots, name = `w${index + 1}` }] of scenario.workers.entries()) {
      await addWorkerProcess(world, name, slots);
    }
    for (let each = 1; each <= (scenario.admitters ?? 1); each++) await addAdmitter(world, `a${each}`);
    for (let each = 1; each <= (scenario.sweepers ?? 0); each++) await addSweeper(world, `s${each}`);
    if (scenario.heir === true) await addHeir(world, 'w1');
    for (const client of scenario.clients ?? []) await addClient(world, client);
    world.noteContent('store');
    world.noteContent('table');
    await this.#settle();
    world.hasBegun = true;
  }

  choices(): Choice[] {
    return choicesOf(this.world);
  }

  async take(choice: Choice): Promise<void> {
    if (this.#tells) this.story.push(choice.label());
    await choice.happen();
    await this.#settle();
  }

  /** Goes on without faults and without choices, beats included, until nothing changes any more. */
  async comeToRest(): Promise<void> {
    const { world } = this;
    let steps = 0;
    const rung = new Map<string, number>();
    const still = async (): Promise<boolean> => {
      for (;;) {
        const next = nextInTurn(progressOf(world), rung);
        if (next === null || world.ghosts.violation !== null) return true;
        if (++steps > longestRest) {
          world.ghosts.neverRests();
          return false;
        }
        await this.take(next);
      }
    };
    for (let round = 0, unchanged = 0; round < roundsToRest && unchanged < 2; round++) {
      const before = world.content;
      if (!(await still())) return;
      for (const process of world.processes) {
        if (!process.node.programs.includes('beat') || process.status !== 'live') continue;
        await begin(world, process, 'beat');
        if (!(await still())) return;
      }
      for (const timer of world.processes.flatMap(({ runs, timers }) => (runs ? timers : []))) {
        if (timer.process.timers.includes(timer)) await this.take(ringing(world, timer));
        if (!(await still())) return;
      }
      unchanged = before === world.content ? unchanged + 1 : 0;
    }
    if (world.processes.some(({ kind, status }) => kind === 'worker' && status === 'live')) {
      world.ghosts.atRest();
    }
  }

  async #settle(): Promise<void> {
    for (;;) {
      const next = forced(this.world);
      if (next === null || this.world.ghosts.violation !== null) return;
      if (this.#tells) this.story.push(`  ${next.label()}`);
      await next.happen();
    }
  }
}

/** What is under way goes on before anybody looks again, and of those who look again, who has done so least often. */
function nextInTurn(choices: readonly Choice[], rung: Map<string, number>): Choice | null {
  const due = choices.filter(({ optional }) => !optional);
  const underWay = due.find(({ rings }) => rings === undefined);
  if (underWay !== undefined) return underWay;
  const turn = ({ rings }: Choice): number => rung.get(rings?.process.name ?? '') ?? 0;
  const [next = null] = due.sort((a, b) => turn(a) - turn(b));
  if (next !== null) rung.set(next.rings?.process.name ?? '', turn(next) + 1);
  return next;
}
