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
 * Visits every state once: each path is run again from the beginning (stateless model checking: Godefroid, POPL 1997),
 * and not followed beyond a state that was seen (hash compaction: Wolper and Leroy, CAV 1993).
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
  let paths: number[][] = [[]];
  let next = 0;
  while (next < paths.length && found.violation === null) {
    if (seen.size >= maxStates || (Date.now() - started) / 1_000 >= maxSeconds) {
      found.complete = false;
      break;
    }
    const path = order === 'deepest' ? (paths.pop() as number[]) : (paths[next++] as number[]);
    if (next > 10_000) {
      paths = paths.slice(next);
      next = 0;
    }
    paths.push(...(await follow(scenario, guardsOff, path, { seen, found, order })));
  }
  found.states = seen.size;
  found.seconds = (Date.now() - started) / 1_000;
  return found;
}

interface Memory {
  seen: Set<string>;
  found: Exploration;
  order: 'deepest' | 'shortest';
}

/** Runs along a path and, where the order is `deepest`, on from there. Returns the paths that branch off. */
async function follow(
  scenario: Scenario,
  guardsOff: readonly string[],
  path: number[],
  { seen, found, order }: Memory,
): Promise<number[][]> {
  const run = new Run(scenario, guardsOff);
  const branches: number[][] = [];
  let here: number[] = [];
  const broken = (): boolean => {
    const what = run.world.ghosts.violation;
    if (what !== null) found.violation = { what, path: here };
    return what !== null;
  };
  await run.begin();
  for (;;) {
    if (broken()) return branches;
    run.world.replays = here.length < path.length;
    const choices = run.choices();
    const step = path[here.length];
    if (step === undefined) {
      const key = stateKey(run.world);
      if (seen.has(key)) return branches;
      seen.add(key);
      if (here.length > found.depth) found.depth = here.length;
      const first = choices.every(({ optional }) => optional) ? 0 : 1;
      const others = choices.slice(order === 'deepest' ? first : 0);
      for (let at = choices.length - others.length; at < choices.length; at++) branches.push([...here, at]);
      found.steps += choices.length;
      if (choices.every(({ optional }) => optional)) {
        found.ends += 1;
        await run.comeToRest();
        broken();
        return branches;
      }
      if (order === 'shortest') return branches;
    }
    const choice = choices[step ?? 0];
    if (choice === undefined) throw new Error('A path leads nowhere: the model is not deterministic.');
    await run.take(choice);
    here = [...here, step ?? 0];
  }
}

/** The path again, as a story. */
export async function storyOf(
  scenario: Scenario,
  { path }: Violation,
  guardsOff: readonly string[] = [],
): Promise<string[]> {
  const restoreTime = takeTime();
  try {
    const run = new Run(scenario, guardsOff, true);
    await run.begin();
    for (const step of path) await run.take(run.choices()[step] as Choice);
    if (run.world.ghosts.violation === null) await run.comeToRest();
    return run.story;
  } finally {
    restoreTime();
  }
}
