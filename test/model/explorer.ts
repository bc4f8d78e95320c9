import type { Scenario } from './scenario.js';
import type { Choice } from './steps.js';
import { Run } from './run.js';
import { takeTime } from './virtual-time.js';
import { stateKey } from './state-key.js';

export interface Exploration {
  scenario: string;
  states: number;
  /** Steps from one state to the next. */
  steps: number;
  ends: number;
  depth: number;
  seconds: number;
  /** Whether every state was seen; else the limit came first. */
  complete: boolean;
  violation: Violation | null;
}

export interface Violation {
  what: string;
  path: number[];
}

export interface ExploreOptions {
  guardsOff?: readonly string[];
  /** `shortest` finds the shortest path to what is broken; `deepest` needs less time for the whole. */
  order?: 'deepest' | 'shortest';
  maxStates?: number;
  maxSeconds?: number;
}

/**
 * Visits every state once, and goes not beyond one that was seen; of those that were seen it keeps a digest (hash
 * compaction: Wolper and Leroy, CAV 1993).
 */
export async function explore(scenario: Scenario, options: ExploreOptions = {}): Promise<Exploration> {
  const restoreTime = takeTime();
  try {
    return await search(scenario, options);
  } finally {
    restoreTime();
  }
}

async function search(scenario: Scenario, options: ExploreOptions): Promise<Exploration> {
  const { guardsOff = [], order = 'deepest', maxStates = Infinity, maxSeconds = Infinity } = options;
  const started = Date.now();
  const seen = new Set<string>();
  const found: Exploration = {
    ...{ scenario: scenario.name, states: 0, steps: 0, ends: 0, depth: 0, seconds: 0 },
    ...{ complete: true, violation: null },
  };
  const frontier: State[] = [];
  /** Sees a state, and what may happen next in it, where it was not seen before. */
  const see = async (run: Run, path: Path | null): Promise<void> => {
    const { violation } = run.world.ghosts;
    if (violation !== null) found.violation = { what: violation, path: stepsOf(path) };
    const key = stateKey(run.world);
    if (violation !== null || seen.has(key)) return;
    seen.add(key);
    const depth = path?.length ?? 0;
    if (depth > found.depth) found.depth = depth;
    const choices = run.choices();
    found.steps += choices.length;
    if (choices.every(({ optional }) => optional)) {
      found.ends += 1;
      const end = run.copy();
      await end.comeToRest();
      const what = end.world.ghosts.violation;
      if (what !== null) found.violation = { what, path: stepsOf(path) };
    }
    if (choices.length > 0) frontier.push({ run, path, choices, next: 0 });
  };
  await see(await Run.begun(scenario, guardsOff), null);
  let first = 0;
  while (first < frontier.length && found.violation === null) {
    if (seen.size >= maxStates || (Date.now() - started) / 1_000 >= maxSeconds) {
      found.complete = false;
      break;
    }
    if (first > 10_000) {
      frontier.splice(0, first);
      first = 0;
    }
    const state = (order === 'deepest' ? frontier.at(-1) : frontier[first]) as State;
    const step = state.next++;
    const isLast = state.next === state.choices.length;
    if (isLast && order === 'deepest') frontier.pop();
    if (isLast && order === 'shortest') first += 1;
    // The last choice needs no copy: nobody comes back to the state.
    const run = isLast ? state.run : state.run.copy();
    const choice = (isLast ? state.choices : run.choices())[step] as Choice;
    await run.take(choice);
    await see(run, { before: state.path, step, length: (state.path?.length ?? 0) + 1 });
  }
  found.states = seen.size;
  found.seconds = (Date.now() - started) / 1_000;
  return found;
}

/** A state that was seen, and of whose choices the first were made. */
interface State {
  run: Run;
  path: Path | null;
  choices: Choice[];
  next: number;
}

/** Which choices led there, the last first. */
interface Path {
  before: Path | null;
  step: number;
  length: number;
}

function stepsOf(path: Path | null): number[] {
  const steps: number[] = [];
  for (let at = path; at !== null; at = at.before) steps.push(at.step);
  return steps.reverse();
}

/** The path again, as a story. */
export async function storyOf(
  scenario: Scenario,
  { path }: Violation,
  guardsOff: readonly string[] = [],
): Promise<string[]> {
  const restoreTime = takeTime();
  try {
    const run = await Run.begun(scenario, guardsOff, { tells: true });
    for (const step of path) await run.take(run.choices()[step] as Choice);
    if (run.world.ghosts.violation === null) await run.comeToRest();
    return run.story;
  } finally {
    restoreTime();
  }
}
