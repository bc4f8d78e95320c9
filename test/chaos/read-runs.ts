import type { Run } from './history.js';
import { readFileSync } from 'node:fs';

type Line = { task: string; entry: number; pid: number; at: number } & (
  | ({ kind: 'start' } & Pick<Run, 'part' | 'fence' | 'exclusive' | 'shared' | 'owner'>)
  | { kind: 'alive' }
  | { kind: 'end'; outcome: 'ok' | 'error' }
);

/** What user code wrote down itself, in order of its starts. Each start is a run, also of a (task, entry) that had one. */
export function readRuns(path: string): Run[] {
  return runsOf(readLines(path));
}

export function runsOf(lines: Line[]): Run[] {
  const runs: Run[] = [];
  const latest = new Map<string, Run>();
  for (const line of lines.toSorted((a, b) => a.at - b.at)) {
    const { task, entry, pid, at } = line;
    const key = `${task} ${entry} ${pid}`;
    const run = latest.get(key);
    if (line.kind === 'start') {
      const { part, fence, exclusive, shared, owner } = line;
      const nothing = { evidence: [], endAt: null, outcome: null };
      const started = { task, entry, part, fence, exclusive, shared, pid, owner, startAt: at, ...nothing };
      latest.set(key, started);
      runs.push(started);
    } else if (run !== undefined) {
      run.evidence.push(at);
      if (line.kind !== 'end') continue;
      run.endAt = at;
      run.outcome = line.outcome;
    }
  }
  return runs;
}

/** Without what processes that were killed left half-written. */
function readLines(path: string): Line[] {
  const lines: Line[] = [];
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    try {
      if (text !== '') lines.push(JSON.parse(text) as Line);
    } catch {
      continue;
    }
  }
  return lines;
}
