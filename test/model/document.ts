import type { Exploration } from './explorer.js';
import { mutants } from './mutants.js';
import { ruleScenarios } from './rule-scenarios.js';
import { scenarios } from './scenarios.js';
import { smallScenarios } from './small-scenarios.js';

export interface TriedMutant {
  mutant: string;
  rule: string;
  scenario: string;
  walks: number;
  broken: string | null;
  /** What breaks where the other guard that makes it redundant is left out too. */
  brokenWithBoth?: string | null;
}

/** The page of docs/reference/reliability, made of what was run. */
export function documentOf(found: readonly Exploration[], tried: readonly TriedMutant[]): string {
  return `${head}\n${exploredTable(found)}\n${mutantsHead}\n${mutantsTable(tried)}\n${foot}`;
}

function exploredTable(found: readonly Exploration[]): string {
  const rows = [...scenarios, ...smallScenarios, ...ruleScenarios].flatMap(({ name, about, ...scenario }) => {
    const one = found.findLast((each) => each.scenario === name);
    if (one === undefined) return [];
    const { states, steps, ends, depth, seconds, complete, violation } = one;
    const actors = [
      `${scenario.workers.map(({ slots }) => slots).join(' + ')} slots`,
      `${scenario.admitters ?? 1} admitting`,
      ...(scenario.sweepers === undefined ? [] : [`${scenario.sweepers} sweeping`]),
      ...(scenario.apis ?? []).map(({ does }) => `one that ${does}`),
    ];
    const faults = Object.entries(scenario.faults ?? {}).map(([fault, times]) => `${fault} ×${times}`);
    const cells = [
      ...[
        `**${name}**: ${about}`,
        `${scenario.tasks.length}`,
        actors.join(', '),
        faults.join(', ') || 'none',
      ],
      ...[`${complete ? 'all' : 'first'} ${states}`, `${steps}`, `${ends}`, `${depth}`, seconds.toFixed(0)],
      violation?.what ?? 'nothing',
    ];
    return [`| ${cells.join(' | ')} |`];
  });
  const columns = [
    'scenario',
    'tasks',
    'processes',
    'faults',
    'states',
    'steps',
    'ends',
    'depth',
    's',
    'broken',
  ];
  return table(columns, rows);
}

function mutantsTable(tried: readonly TriedMutant[]): string {
  const rows = mutants.flatMap(({ name: mutant, rule, scenario, explained = null, onlyWith }) => {
    const one = tried.findLast((each) => each.mutant === mutant && each.scenario === scenario);
    if (one === undefined) return [];
    const { walks, broken, brokenWithBoth = null } = one;
    const alone = broken ?? (explained === null ? `nothing, in ${walks} walks` : `nothing: ${explained}`);
    const what = onlyWith === undefined ? alone : `${alone}; without ${onlyWith.what}: ${brokenWithBoth}`;
    return [`| ${[mutant, rule, scenario, what, broken === null ? '' : `${walks}`].join(' | ')} |`];
  });
  return table(['left out', 'rule', 'scenario', 'what breaks', 'walk'], rows);
}

function table(columns: string[], rows: string[]): string {
  return [`| ${columns.join(' | ')} |`, `| ${columns.map(() => '---').join(' | ')} |`, ...rows, ''].join(
    '\n',
  );
}

const head = `# Exploration of the protocol

Written by \`npm run explore -- --document\` from what \`--json\` runs printed; not to be edited by hand. The raw output is in
[exploration.txt](exploration.txt).

The real in-memory lock table (the executable specification of the scripts) and the real parts of a worker, of admission,
of a rebuild and of the clean-up are run without I/O, clocks or timers of their own. Each call of a store stops at a
scheduler: when it is executed, when its answer comes, and what goes wrong, are choices. The explorer makes every choice
in turn, on a copy of the state, and goes not beyond a state that was seen. What the code of a process does is a function
of what it was told, so each such story is run once, by itself, and serves in every state with it. A state is both
stores, what each process was told in order, its calls and timers under way, and the faults left; 64 bits of it are kept. Whether
that tells all there is to tell is [tested](../../../test/model/exactness.test.ts): wherever a state comes again by another path, all
that may happen in it must lead to the same states.

**Real:** \`src/locks/memory\`, and of \`src/worker\` and \`src/recovery\` all that claims, finishes, releases, gives back,
compares, admits, stops in order, finds or opens an epoch, and cleans up after the dead, with their loops.
**A model:** the store (\`test/model/*-calls.ts\`, on the state machine of \`test/store/task-model.ts\`, which a property test
compares with PostgreSQL and PGlite), the heartbeat, handlers, and the passing of time.

What must hold: *never two* (handlers of conflicting tasks never run at once), *once* (each task and entry runs at most
once), *order* (nobody begins while one who came before and conflicts still waits, where nothing is retried or paused),
*held while it runs*, *late writers* (what a call changed was its caller's to change), *legal states*, *table* (the invariants
of \`src/locks/invariants.ts\`), *the dead take nothing* (who cannot prove that it lives neither lists itself nor claims), in
every end with a live worker *everything ends* and *nothing is left*, and *reserved for nothing*: what is paused has no hold, and
in every end without a worker no hold is left but for those that wait with that very entry.

What is assumed, and so not shown:

- One statement of the store is one step; what several sessions do inside of one is shown by the tests of the store.
- A call that only reads what nobody changes in the scenario, and a poll that finds nothing, are answered at once.
- A timer rings at any time after one of the stores has changed or its process was told something, else only at rest.
- Who is reaped has crashed, or stands still beyond its deadline (its children are killed then), or has stopped.
- In the end a run goes on without choices: beats and timers one after another, late calls never.
- Every process has found the first epoch when a run begins.
- Where the number of states says *first*, the time was over before all were seen: the rest was not looked at.

## What was explored
`;

const mutantsHead = `## What happens without a rule

One rule is left out at a time, and the scenario is walked at random (500 walks at most with a fixed seed, whoever is first goes
on, and changes now and then; some scenarios have a script that leads to where the rule is needed) until something breaks. The
number of the walk that broke it is in the last column; as many walks with every rule break nothing. Where nothing breaks, it is
said which other guard makes the rule redundant, and what breaks without both: without the other alone nothing breaks there.
`;

const foot = `## What it has found

- A worker that had been taken for dead and cleaned up listed itself again when its claim came back as *unlisted*, and claimed
  on: an owner without a row, and what it took was free only when orphans were looked for. Now whoever cannot prove that it
  lives neither lists itself nor claims ([test](../../../src/worker/claiming.test.ts)).

- An admitter got no answer to what it entered, and its session ended; the task was canceled, and the next pass found nothing
  to take out and cleared the mark. Since the table hears of a pass only when it enters something, what the first had sent
  was still taken when it came: a hold of a canceled task, which stood in the way of others until somebody claimed that lane or the
  audit came by. Now a take-out of a pass tells the table its number ([test](../../../src/locks/conformance/taking-out.conformance.ts)).

- What the last worker of a lane ran and gave back, or what was given back after it had died, kept its hold: it counted as
  admitted in no epoch, and nobody looked for such tasks in a lane without workers. Now admission does
  ([test](../../../src/worker/unserved-lanes.test.ts)).
- Before that, what merely waited in such a lane kept its hold.
- Where such a lane was taken out just while a sweeper moved the dead worker's hold on, the hold moved to an entry that nobody
  looked for; where a queue was paused meanwhile, its hold stayed as long as the pause. Now a later hold
  that a take-out finds is looked for as what was given back is, and taken out in its turn where the queue is paused ([test](../../../src/recovery/holds-moving-on.test.ts)).

- A lock that is given up while a claim of it is under way: the late hold is known to nobody, and keeps its resource until the
  process has compared its registry with its memory at two beats. That is what these beats are for, and nothing else ends it
  (scenario *claim of a lock that was given up*).
- By chaos, and then here too: what ran at once in a process that died lost its locks before its roll-back
  ([test](../../../src/recovery/cleanup-locks-for-worker.test.ts)).

## What is not there

Children, several definitions and versions, audits, registration, more than one process that is no worker, and symmetry (workers
that could be exchanged are explored both ways). Larger fleets, and more than two faults in one run.
`;
