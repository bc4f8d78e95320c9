import type { Scenario } from './scenario.js';
import type { Choice } from './steps.js';
import { forced } from './steps.js';
import { addAdmitter, addClient, addHeir, addSweeper, addWorkerProcess } from './actors.js';
import { begin, choicesOf, progressOf, ringing } from './choices.js';
import { Guards } from './guards.js';
import { addTask } from './rows.js';
import { giveTimeTo } from './virtual-time.js';
import { World } from './world.js';

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

  constructor(scenario: Scenario, guardsOff: readonly string[], tells = false) {
    this.#tells = tells;
    this.world = new World(scenario, new Guards(guardsOff));
    giveTimeTo(this.world);
  }

  async begin(): Promise<void> {
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
    const still = async (): Promise<boolean> => {
      for (;;) {
        const [next] = progressOf(world).filter(({ optional }) => !optional);
        if (next === undefined || world.ghosts.violation !== null) return true;
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
        const beat = process.programs.get('beat');
        if (beat === undefined || process.status !== 'live') continue;
        await begin(world, process, 'beat', beat);
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

  async #settle(): Promise<void> {
    for (;;) {
      const next = forced(this.world);
      if (next === null || this.world.ghosts.violation !== null) return;
      if (this.#tells) this.story.push(`  ${next.label()}`);
      await next.happen();
    }
  }
}
