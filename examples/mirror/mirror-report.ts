import type { Holdfast, Task } from 'holdfast';
import type { PreparedMirror } from './prepare-mirror.js';
import type { GarbageResult } from './collect-garbage.js';
import type { SyncResult } from './sync-package.js';
import { findOverlaps } from './journal.js';
import { layoutOf } from './layout.js';
import { locksLeftBy } from './locks-left.js';
import { gc, publish, sync } from './tasks.js';
import { verifyMirror } from './verify-mirror.js';

export interface MirrorReport {
  /** Whether every task completed, all is verified, nothing overlapped and nothing is left behind. */
  ok: boolean;
  tasks: number;
  completed: number;
  syncs: number;
  collections: number;
  publications: number;
  /** Tasks of an earlier run that was cut short. */
  resumed: number;
  /** Whether the mirror is what it must be. */
  verified: boolean;
  /** Whatever is wrong, in words. */
  problems: string[];
  /** Locks of these tasks, and places in queues, that are left. */
  locksLeft: number;
  /** Pairs of conflicting tasks that ran at the same time. */
  overlaps: number;
  packages: number;
  files: number;
  blobs: number;
  /** In the store at the end. */
  bytes: number;
  /** By all syncs together. */
  bytesHashed: number;
  blobsWritten: number;
  blobsRemoved: number;
  /** The most tasks that were seen waiting for the store at once. */
  longestQueue: number;
}

interface Run {
  tasks: readonly Task[];
  resumed: number;
  longestQueue: number;
}

/** Checks what the tasks have left behind and sums up what they did. */
export async function mirrorReport(
  hf: Holdfast,
  { mirror, packages }: PreparedMirror,
  { tasks, resumed, longestQueue }: Run,
): Promise<MirrorReport> {
  const layout = layoutOf(mirror);
  const found = verifyMirror(layout, packages);
  const overlaps = await findOverlaps(layout);
  const failures = tasks.filter(({ state }) => state !== 'completed').map(failureText);
  const resources = new Set(tasks.flatMap(({ exclusive, shared }) => [...exclusive, ...shared]));
  const locksLeft = await locksLeftBy(hf, new Set(tasks.map(({ id }) => id)), resources);
  const problems = [...failures, ...overlaps, ...found.problems];
  if (locksLeft > 0) problems.push(`${locksLeft} locks are left`);
  const syncs = tasks.filter(({ name }) => name === sync.name);
  const collections = tasks.filter(({ name }) => name === gc.name);
  return {
    ok: problems.length === 0,
    tasks: tasks.length,
    completed: tasks.length - failures.length,
    syncs: syncs.length,
    collections: collections.length,
    publications: tasks.filter(({ name }) => name === publish.name).length,
    resumed,
    verified: found.problems.length === 0,
    problems,
    locksLeft,
    overlaps: overlaps.length,
    packages: found.manifests,
    files: found.files,
    blobs: found.blobs,
    bytes: found.blobBytes,
    bytesHashed: sum<SyncResult>(syncs, ({ bytes }) => bytes),
    blobsWritten: sum<SyncResult>(syncs, ({ blobsWritten }) => blobsWritten),
    blobsRemoved: sum<GarbageResult>(collections, ({ removed }) => removed),
    longestQueue,
  };
}

function failureText({ id, name, state, error }: Task): string {
  return `task ${id} (${name}) is ${state}: ${error?.code ?? ''} ${error?.message ?? ''}`;
}

function sum<Result>(tasks: readonly Task[], value: (result: Result) => number): number {
  const results = tasks.map(({ result }) => result as Result | null).filter((result) => result !== null);
  return results.reduce((total, result) => total + value(result), 0);
}
