import type { Scenario } from './scenario.js';
import type { Choice } from './steps.js';
import { forced } from './steps.js';
import { addAdmitter, addClient, addHeir, addSweeper, addWorkerProcess } from './actors.js';
import { addApiProcess } from './api-actor.js';
import { begin, choicesOf, progressOf, ringing } from './choices.js';
import { Guards } from './guards.js';
import { addTask, defaultPolicies, holdSource, jobName, type StoredTask } from './rows.js';
import { World, type Automata } from './world.js';

/** Beyond so many steps nothing comes to rest any more. */
const longestRest = 600;
const roundsToRest = 8;
const mostLooks = 40;
/** In the end there are so many other steps to one look. */
const shareOfLooks = 4;

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
      const { exclusive = [], shared = [], name = jobName } = task;
      addTask(world.rows, {
        ...{ id: `t${index + 1}`, name, exclusive, shared },
        policies: { ...defaultPolicies, ...task.policies },
      });
    }
    for (const [index, worker] of scenario.workers.entries()) {
      await addWorkerProcess(world, worker.name ?? `w${index + 1}`, worker);
    }
    for (const [index, api] of (scenario.apis ?? []).entries())
      await addApiProcess(world, `p${index + 1}`, api);
    await this.#admit(scenario.tasks.flatMap(({ admitted }, at) => (admitted === true ? [at] : [])));
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
    world.timePasses = true;
    const turns = new Map<string, number>();
    const still = async (): Promise<boolean> => {
      const times = new Map<string, number>();
      for (;;) {
        // Who looks again and again, and finds the same, waits for a beat of another.
        const again = (times.get(world.content) ?? 0) + 1;
        times.set(world.content, again);
        if (again > mostLooks) return true;
        const next = nextInTurn(progressOf(world), turns);
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
        const program = process.node.programs.find((name) => name === 'beat' || name === 'look');
        if (program === undefined || process.status !== 'live') continue;
        await begin(world, process, program);
        if (!(await still())) return;
      }
      for (const timer of world.processes.flatMap(({ runs, timers }) => (runs ? timers : []))) {
        if (timer.process.timers.includes(timer)) await this.take(ringing(world, timer));
        if (!(await still())) return;
      }
      unchanged = before === world.content ? unchanged + 1 : 0;
    }
    world.ghosts.atRest();
  }

  async #admit(numbers: readonly number[]): Promise<void> {
    const { rows, table } = this.world;
    for (const number of numbers) {
      const task = rows.tasks[number] as StoredTask;
      await table.enter('1', '0', [{ ...holdSource(task), task: task.id }]);
      task.admittedEpoch = '1';
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

/** Each in its turn, so that nobody keeps others from going on; those who only look again come more seldom. */
function nextInTurn(choices: readonly Choice[], turns: Map<string, number>): Choice | null {
  const whoOf = (choice: Choice): string => `${choice.rings !== undefined}${choice.label().split(':')[0]}`;
  const turnOf = (choice: Choice): number =>
    (turns.get(whoOf(choice)) ?? 0) + (choice.rings === undefined ? 0 : shareOfLooks);
  const due = choices.filter(({ optional }) => !optional);
  const [next = null] = due.sort((a, b) => turnOf(a) - turnOf(b));
  if (next === null) return null;
  const step = next.rings === undefined ? 1 : shareOfLooks;
  turns.set(whoOf(next), (turns.get(whoOf(next)) ?? 0) + step);
  return next;
}
