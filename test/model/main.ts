import type { Exploration } from './explorer.js';
import type { Scenario } from './scenario.js';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as here from './explorer.js';
import { documentOf, type TriedMutant } from './document.js';
import { ruleScenarios } from './rule-scenarios.js';
import { tryMutants, type Print, type WalkerOf } from './try-mutants.js';
import { scenarios } from './scenarios.js';
import { smallScenarios } from './small-scenarios.js';
import { findInexact } from './exactness.js';
import type { KeyPart } from './state-key.js';

/** Of a story, so many lines of how it came to rest, or did not. */
const longestEnd = 100;

const help = `npm run explore -- [--quick | --ci] [--scenario NAME]... [--mutants [--mutant NAME]...] [--json] [--seconds N] [--states N]
  Visits every state of the scenarios of test/model/scenarios.ts: all, those that finish soon (--quick, --ci), or those named.
  --mutants  leaves out one rule of the protocol at a time, and tells what breaks; --mutant chooses among them
  --document FILE  writes docs/reference/reliability/exploration.md from what runs with --json have printed; repeatable
  --seconds  gives up on a scenario after so many seconds (default 600; with --ci 7), --states after so many states
  --exact    asks instead whether what is taken for one state has one future; --left-out PART does so without a part of the key`;

/** Resolves with the exit status: 1 where a property was broken, or a mutant broke none that is not explained. */
export async function main(args: string[], walkerOf: WalkerOf): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      ...{
        ci: { type: 'boolean' },
        quick: { type: 'boolean' },
        mutants: { type: 'boolean' },
        json: { type: 'boolean' },
      },
      ...{
        help: { type: 'boolean' },
        mutant: { type: 'string', multiple: true },
        scenario: { type: 'string', multiple: true },
      },
      ...{
        document: { type: 'string', multiple: true },
        seconds: { type: 'string' },
        states: { type: 'string' },
        exact: { type: 'boolean' },
        'left-out': { type: 'string' },
      },
    },
  });
  const limits = {
    maxSeconds: Number(values.seconds ?? (values.ci === true ? 7 : 600)),
    maxStates: Number(values.states ?? Infinity),
  };
  const print: Print = (result, text) => {
    console.log(values.json === true ? JSON.stringify(result) : text);
  };
  if (values.help === true) {
    console.log(help);
    return 0;
  }
  if (values.document !== undefined) {
    writeDocument(values.document);
    return 0;
  }
  if (values.mutants === true) return tryMutants(values.mutant, walkerOf, print);
  const sets =
    values.quick === true ? ['quick'] : ['quick', 'medium', ...(values.ci === true ? [] : ['long'])];
  const chosen = [...scenarios, ...smallScenarios, ...ruleScenarios].filter(({ name, set }) => {
    return values.scenario?.includes(name) ?? sets.includes(set);
  });
  const leftOut = values['left-out'] as KeyPart | undefined;
  if (values.exact === true) return tellExactness(chosen, { ...limits, leftOut }, print);
  let status = 0;
  for (const scenario of chosen) {
    const found = await here.explore(scenario, limits);
    print(found, rowOf(scenario, found));
    if (found.violation === null) continue;
    status = 1;
    // What comes first along all paths has the shortest story, where there is the time to look for it.
    const again = await here.explore(scenario, { ...limits, order: 'shortest' });
    const shown = again.violation ?? found.violation;
    const story = await here.storyOf(scenario, shown);
    console.log(story.slice(0, shown.path.length + longestEnd).join('\n'));
  }
  return status;
}

/** So many states of each suffice to see it. */
const mostCompared = 5_000;

async function tellExactness(
  chosen: readonly Scenario[],
  { maxStates, leftOut }: { maxStates: number; leftOut: KeyPart | undefined },
  print: Print,
): Promise<number> {
  let status = 0;
  for (const scenario of chosen) {
    const found = await findInexact(scenario, { maxStates: Math.min(maxStates, mostCompared), leftOut });
    const { compared, inexact } = found;
    print(found, `${scenario.name}: ${compared} compared, ${inexact === null ? 'exact' : 'NOT exact'}`);
    if (inexact !== null) status = 1;
  }
  return status;
}

function rowOf(scenario: Scenario, found: Exploration): string {
  const { states, steps, ends, depth, seconds, complete, violation } = found;
  const size = `${states} states, ${steps} steps, ${ends} ends, depth ${depth}, ${seconds.toFixed(0)} s`;
  const what = violation?.what ?? 'nothing broken';
  const whole = complete ? 'complete' : 'NOT complete';
  return `${scenario.name}: ${size}, ${whole}, ${what}`;
}

const folder = 'docs/reference/reliability';

function writeDocument(files: readonly string[]): void {
  const lines = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{')),
  );
  const results = lines.map((line) => JSON.parse(line) as Partial<TriedMutant & Exploration>);
  const tried = results.filter((one): one is TriedMutant => one.mutant !== undefined);
  const found = results.filter((one): one is Exploration => one.states !== undefined);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/exploration.md`, documentOf(found, tried));
  writeFileSync(`${folder}/exploration.txt`, `${lines.join('\n')}\n`);
}
