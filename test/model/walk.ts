import type { Violation } from './explorer.js';
import type { Scenario } from './scenario.js';
import type { Choice } from './steps.js';
import { Run } from './run.js';
import { Script } from './script.js';
import type { Automata } from './world.js';
import { takeTime } from './virtual-time.js';

/**
 * Goes along paths chosen at random, each to its end, until something is broken: finds soon what many paths lead to, and
 * proves nothing. Where the scenario has a script, each path begins with that.
 */
export async function walk(
  scenario: Scenario,
  options: { walks: number; seed?: number; guardsOff?: readonly string[] },
): Promise<{ walks: number; violation: Violation | null }> {
  const { walks, seed = 1, guardsOff = [] } = options;
  const random = seededRandom(seed);
  const automata: Automata = new Map();
  const restoreTime = takeTime();
  try {
    for (let walked = 1; walked <= walks; walked++) {
      const path: number[] = [];
      const ranks = new Map<string, number>();
      const script = new Script(scenario.script);
      const run = await Run.begun(scenario, guardsOff, { automata });
      for (;;) {
        const choices = run.choices();
        const step = script.step(choices, (free) => chosenAtRandom(free, ranks, random));
        if (run.world.ghosts.violation !== null) break;
        const choice = choices[step];
        if (choice === undefined || path.length >= longestWalk) {
          await run.comeToRest();
          break;
        }
        path.push(step);
        await run.take(choice);
      }
      const what = run.world.ghosts.violation;
      if (what !== null) return { walks: walked, violation: { what, path } };
    }
    return { walks, violation: null };
  } finally {
    restoreTime();
  }
}

const longestWalk = 400;
/** So seldom that most come to pass where something is under way. */
const shareOfFaults = 0.08;
const shareOfTurns = 0.1;

/**
 * Whoever is first goes on, and now and then it becomes the last, so that others are far ahead of it: what needs few such
 * turns is found with few walks (Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees of Finding
 * Bugs, ASPLOS 2010). Resolves beyond the choices where nothing has to happen any more, and nothing more does.
 */
function chosenAtRandom(
  choices: readonly Choice[],
  ranks: Map<string, number>,
  random: () => number,
): number {
  const faults = choices.flatMap(({ optional }, at) => (optional ? [at] : []));
  if (faults.length > 0 && random() < shareOfFaults) return faults[Math.floor(random() * faults.length)] ?? 0;
  let first = choices.length;
  let rank = Infinity;
  let whose = '';
  for (const [at, choice] of choices.entries()) {
    if (choice.optional) continue;
    const [who = ''] = choice.label().split(':');
    if (!ranks.has(who)) ranks.set(who, random());
    // Among those of one process any may be the first.
    const own = (ranks.get(who) ?? 0) + random() / 1_000;
    if (own < rank) [first, rank, whose] = [at, own, who];
  }
  if (random() < shareOfTurns) ranks.set(whose, Math.max(...ranks.values()) + random());
  return first;
}

/** A linear congruential generator (Knuth, The Art of Computer Programming, 3.3.4). */
function seededRandom(seed: number): () => number {
  let state = BigInt(seed);
  return () => {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    return Number(state >> 11n) / 2 ** 53;
  };
}
