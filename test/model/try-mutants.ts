import type { Violation } from './explorer.js';
import type { Edit, LeftOut, Mutant } from './mutant.js';
import type { Scenario } from './scenario.js';
import { mutants } from './mutants.js';
import { ruleScenarios } from './rule-scenarios.js';
import { scenarios } from './scenarios.js';
import { walk } from './walk.js';

/** What walks, made of sources that were changed. */
export type WalkerOf = (edits: Edit[]) => Promise<{ walk: typeof walk }>;

/** As many as find, with a fixed seed, what can be found. */
const walksPerMutant = 500;

type Walked = { walks: number; violation: Violation | null };
export type Print = (result: object, text: string) => void;

/** Resolves with the exit status: 1 where one broke nothing and is not explained, or where all is broken without it too. */
export async function tryMutants(
  names: string[] | undefined,
  walkerOf: WalkerOf,
  print: Print,
): Promise<number> {
  let status = 0;
  for (const mutant of mutants.filter(({ name }) => names?.includes(name) ?? true)) {
    const scenario = scenarioOf(mutant);
    const walks = mutant.walks ?? walksPerMutant;
    const found = await walkWithout(mutant, { scenario, walks }, walkerOf);
    const whole = await walk(scenario, { walks: found.walks });
    const both = await walkWithoutBoth(mutant, { scenario, walks }, walkerOf);
    print(resultOf(mutant, found, both), textOf(mutant, found, both));
    if (whole.violation !== null)
      print({ unbroken: scenario.name }, `  and with every rule: ${whole.violation.what}`);
    const shown = found.violation !== null || mutant.explained !== undefined;
    if (!shown || whole.violation !== null || both?.violation === null) status = 1;
  }
  return status;
}

function scenarioOf({ name, scenario }: Mutant): Scenario {
  const found = [...scenarios, ...ruleScenarios].find((one) => one.name === scenario);
  if (found === undefined) throw new Error(`There is no scenario ${scenario}, which ${name} names.`);
  return found;
}

async function walkWithout(
  { guardsOff = [], edits = [] }: LeftOut,
  { scenario, walks }: { scenario: Scenario; walks: number },
  walkerOf: WalkerOf,
): Promise<Walked> {
  const walker = edits.length > 0 ? await walkerOf(edits) : { walk };
  return walker.walk(scenario, { guardsOff, walks });
}

/** null where it is shown, or explained, by itself. Throws where the other guard is needed in that scenario without it. */
async function walkWithoutBoth(
  { onlyWith: other, ...mutant }: Mutant,
  at: { scenario: Scenario; walks: number },
  walkerOf: WalkerOf,
): Promise<Walked | null> {
  if (other === undefined) return null;
  const { violation } = await walkWithout(other, at, walkerOf);
  if (violation !== null) throw new Error(`Only without ${other.what}: ${violation.what}`);
  const guardsOff = [...(mutant.guardsOff ?? []), ...(other.guardsOff ?? [])];
  const edits = [...(mutant.edits ?? []), ...(other.edits ?? [])];
  return walkWithout({ guardsOff, edits }, at, walkerOf);
}

function resultOf(
  { name, rule, scenario }: Mutant,
  { walks, violation }: Walked,
  both: Walked | null,
): object {
  return {
    ...{ mutant: name, rule, scenario, walks, broken: violation?.what ?? null },
    ...(both !== null && { brokenWithBoth: both.violation?.what ?? null }),
  };
}

function textOf(
  { name, scenario, onlyWith }: Mutant,
  { walks, violation }: Walked,
  both: Walked | null,
): string {
  const text = `${name} [${scenario}]: ${violation?.what ?? 'nothing'}, in ${walks} walks`;
  if (both === null) return text;
  return `${text}; only with ${onlyWith?.what}: ${both.violation?.what ?? 'nothing'}, in ${both.walks}`;
}
