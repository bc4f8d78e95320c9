import type { Scenario } from './scenario.js';
import { Run } from './run.js';
import { stateKey, type KeyPart } from './state-key.js';
import { takeTime } from './virtual-time.js';

export interface Exactness {
  scenario: string;
  /** How often a state came again by another path and was compared. */
  compared: number;
  /** Two paths to what was taken for one state, from which not the same may happen; null where there are none. */
  inexact: { one: string[]; other: string[] } | null;
}

interface Seen {
  path: string[];
  /** What may happen next, and to which states it leads. */
  next: string;
}

/**
 * Whether what has the same key has the same future: wherever a state comes again, all that may happen in it must lead to
 * the same states as before. Looks at so many states, the nearest first.
 */
export async function findInexact(
  scenario: Scenario,
  { maxStates, leftOut }: { maxStates: number; leftOut?: KeyPart | undefined },
): Promise<Exactness> {
  const restoreTime = takeTime();
  try {
    const keyOf = (run: Run): string => stateKey(run.world, leftOut);
    const seen = new Map<string, Seen>();
    const found: Exactness = { scenario: scenario.name, compared: 0, inexact: null };
    const frontier = [{ run: await Run.begun(scenario, [], { automata: new Map() }), path: [] as string[] }];
    for (const { run, path } of frontier) {
      const key = keyOf(run);
      const before = seen.get(key);
      if (before === undefined && seen.size >= maxStates) continue;
      const following = await allFollowing(run);
      const next = following
        .map(({ label, to }) => `${label} ${keyOf(to)}`)
        .toSorted()
        .join('\n');
      if (before === undefined) {
        seen.set(key, { path, next });
        frontier.push(...following.map(({ label, to }) => ({ run: to, path: [...path, label] })));
      } else {
        found.compared += 1;
        if (next !== before.next) return { ...found, inexact: { one: before.path, other: path } };
      }
    }
    return found;
  } finally {
    restoreTime();
  }
}

async function allFollowing(run: Run): Promise<{ label: string; to: Run }[]> {
  const following = [];
  for (const [at, choice] of run.choices().entries()) {
    const to = run.copy();
    const same = to.choices()[at];
    if (same === undefined) throw new Error(`A copy has no ${choice.label()}.`);
    await to.take(same);
    following.push({ label: choice.label(), to });
  }
  return following;
}
