import type { Run } from '../history.js';

export interface Use {
  run: Run;
  mode: 'exclusive' | 'shared';
}

/** Per resource, the runs that name it, in order of their starts. */
export function usesByResource(runs: Run[]): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  const add = (resource: string, use: Use): void => {
    const list = uses.get(resource);
    if (list === undefined) uses.set(resource, [use]);
    else list.push(use);
  };
  for (const run of runs.toSorted((a, b) => a.startAt - b.startAt)) {
    for (const resource of run.exclusive) add(resource, { run, mode: 'exclusive' });
    for (const resource of run.shared) add(resource, { run, mode: 'shared' });
  }
  return uses;
}

export function conflict(one: Use, other: Use): boolean {
  return one.mode === 'exclusive' || other.mode === 'exclusive';
}

export function nameOf({ part, task, entry, fence }: Run): string {
  return part === 'lock'
    ? `lock ${task} (fence ${fence})`
    : `${part} of ${task}, entry ${entry} (fence ${fence})`;
}
