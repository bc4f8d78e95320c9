import { type JournalLine, readJournal } from './journal-file.js';
import type { Mode } from '../../src/resources.js';

export interface JournalReport {
  /** Sentences, in order of time; empty when all is well. */
  violations: string[];
  runs: number;
  /** The most handlers that ran at one moment. */
  mostAtOnce: number;
}

export interface JournalRules {
  /** Runs without an end are those of killed processes: they count until their last line. Default: a violation. */
  unfinished?: 'allowed';
}

interface Run {
  name: string;
  line: JournalLine;
  from: bigint;
  to: bigint;
  ended: boolean;
}

interface Use {
  run: Run;
  mode: Mode;
}

/**
 * Judges what handlers wrote: never two that conflict at one time; per resource, those that conflict in the order
 * given; each (task, entry) at most once; on each resource the fence of an exclusive run above every earlier one,
 * and that of a shared run above the last exclusive one.
 */
export function checkJournal(journal: string | JournalLine[], rules: JournalRules = {}): JournalReport {
  const lines = typeof journal === 'string' ? readJournal(journal) : journal;
  const { runs, violations } = runsOf(lines);
  if (rules.unfinished !== 'allowed') {
    for (const run of runs) if (!run.ended) violations.push(`${run.name} started and never ended.`);
  }
  for (const [resource, uses] of usesByResource(runs)) {
    violations.push(
      ...overlaps(resource, uses),
      ...overtakings(resource, uses),
      ...staleFences(resource, uses),
    );
  }
  return { violations, runs: runs.length, mostAtOnce: mostAtOnce(runs) };
}

/** Throws with the first violations, if any. Returns the report, for a test to see that something ran at all. */
export function assertJournal(journal: string | JournalLine[], rules: JournalRules = {}): JournalReport {
  const report = checkJournal(journal, rules);
  if (report.violations.length === 0) return report;
  const shown = report.violations.slice(0, 10).join('\n');
  throw new Error(`The journal shows ${report.violations.length} violations:\n${shown}`);
}

function runsOf(lines: JournalLine[]): { runs: Run[]; violations: string[] } {
  const runs = new Map<string, Run>();
  const violations: string[] = [];
  for (const line of [...lines].sort((a, b) => (BigInt(a.at) < BigInt(b.at) ? -1 : 1))) {
    const name = `task ${line.task} entry ${line.entry}`;
    const run = runs.get(name);
    const at = BigInt(line.at);
    if (line.kind === 'start') {
      if (run === undefined) runs.set(name, { name, line, from: at, to: at, ended: false });
      else violations.push(`${name} started twice.`);
    } else if (run === undefined) {
      violations.push(`${name} has a line "${line.kind}" before any start.`);
    } else {
      if (run.ended) violations.push(`${name} has a line "${line.kind}" after its end.`);
      run.to = at;
      run.ended ||= line.kind === 'end';
    }
  }
  return { runs: [...runs.values()], violations };
}

/** Per resource, its runs in order of their starts. */
function usesByResource(runs: Run[]): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  const add = (resource: string, use: Use): void => {
    const list = uses.get(resource);
    if (list === undefined) uses.set(resource, [use]);
    else list.push(use);
  };
  for (const run of runs) {
    const exclusive = new Set(run.line.exclusive);
    for (const resource of exclusive) add(resource, { run, mode: 'exclusive' });
    for (const resource of new Set(run.line.shared)) {
      if (!exclusive.has(resource)) add(resource, { run, mode: 'shared' });
    }
  }
  return uses;
}

function overlaps(resource: string, uses: Use[]): string[] {
  return againstEarlier(
    uses,
    (run) => run.to,
    (later, earlier) => later.from < earlier.to,
    (later, earlier) => `${later} started on ${resource} while ${earlier} ran with it.`,
  );
}

function overtakings(resource: string, uses: Use[]): string[] {
  const ordered = uses.filter((use) => use.run.line.order !== null);
  return againstEarlier(
    ordered,
    (run) => BigInt(run.line.order ?? 0),
    (later, earlier) => BigInt(later.line.order ?? 0) < BigInt(earlier.line.order ?? 0),
    (later, earlier) => `${earlier} was served on ${resource} before ${later}, which came first.`,
  );
}

function staleFences(resource: string, uses: Use[]): string[] {
  let highest = '';
  let highestExclusive = '';
  const violations: string[] = [];
  for (const { run, mode } of uses) {
    const { fence } = run.line;
    const mustExceed = mode === 'exclusive' ? highest : highestExclusive;
    if (fence <= mustExceed) {
      violations.push(`${run.name} has fence ${fence} on ${resource}, after one with ${mustExceed}.`);
    }
    if (fence > highest) highest = fence;
    if (mode === 'exclusive' && fence > highestExclusive) highestExclusive = fence;
  }
  return violations;
}

/**
 * Compares each use with the one that is worst for it among the earlier ones that conflict with it: the one with
 * the largest `measure`. So the cost is one comparison a use, not one a pair.
 */
function againstEarlier(
  uses: Use[],
  measure: (run: Run) => bigint,
  violates: (later: Run, earlier: Run) => boolean,
  sentence: (later: string, earlier: string) => string,
): string[] {
  let worst: Run | undefined;
  let worstExclusive: Run | undefined;
  const violations: string[] = [];
  for (const { run, mode } of uses) {
    const earlier = mode === 'exclusive' ? worst : worstExclusive;
    if (earlier !== undefined && violates(run, earlier)) violations.push(sentence(run.name, earlier.name));
    if (worst === undefined || measure(run) > measure(worst)) worst = run;
    if (mode !== 'exclusive') continue;
    if (worstExclusive === undefined || measure(run) > measure(worstExclusive)) worstExclusive = run;
  }
  return violations;
}

function mostAtOnce(runs: Run[]): number {
  const steps = runs.flatMap((run) => [
    { at: run.from, change: 1 },
    { at: run.to, change: -1 },
  ]);
  let now = 0;
  let most = 0;
  for (const { change } of steps.sort((a, b) => (a.at < b.at ? -1 : 1)))
    most = Math.max(most, (now += change));
  return most;
}
