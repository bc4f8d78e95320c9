import { setTimeout as pause } from 'node:timers/promises';
import type { Holdfast } from '../holdfast.js';
import type { Task } from '../tasks/task.js';

/** What a task was seen to hold. */
export interface Held {
  task: string;
  entry: number;
  resources: string[];
}

const shortestPauseMs = 5;
/** How long to pause, as a part of what has passed: so exact is the answer. */
const pausePart = 0.02;

/** What a task that runs holds, as the lock table tells it at this moment; null where it does not. */
export async function heldByTask(hf: Holdfast, id: string): Promise<Held | null> {
  const { state, entry, exclusive, shared } = await hf.tasks.get(id);
  if (state !== 'running') return null;
  const held = { task: id, entry, resources: [...exclusive, ...shared] };
  const holders = await holdersAmong(hf, held);
  const owned = holders.filter((holder) => holder.entry === entry && holder.owner !== null);
  return owned.length === held.resources.length ? held : null;
}

/** What the tasks hold that run on the worker of this name. */
export async function heldByWorker(hf: Holdfast, name: string): Promise<Held[]> {
  const { owners } = await hf.locks.owners({ limit: 1_000 });
  const tasks = owners.filter((owner) => owner.name === name).flatMap(({ holds }) => holds);
  const held = await Promise.all(tasks.map(({ task }) => heldByTask(hf, task)));
  return held.filter((one) => one !== null);
}

export function countLocks(held: readonly Held[]): number {
  return held.reduce((total, { resources }) => total + resources.length, 0);
}

/** How many locks, for people. */
export function locksText(locks: number): string {
  return locks === 1 ? '1 lock' : `${locks} locks`;
}

/** Whether each of the tasks has ended, runs again, or is waiting while others may have what it held. */
export async function areRecovered(hf: Holdfast, held: readonly Held[]): Promise<boolean> {
  const recovered = await Promise.all(held.map((one) => isRecovered(hf, one)));
  return recovered.every(Boolean);
}

async function isRecovered(hf: Holdfast, held: Held): Promise<boolean> {
  const row = await hf.tasks.get(held.task);
  if (isUnsettled(row) && row.entry === held.entry) return false;
  const holders = await holdersAmong(hf, held);
  if (holders.some(({ entry }) => entry === held.entry)) return false;
  return holders.length === 0 || row.state !== 'waiting';
}

function isUnsettled({ state }: Task): boolean {
  return !['completed', 'failed', 'canceled'].includes(state);
}

async function holdersAmong(
  hf: Holdfast,
  { task, resources }: Held,
): Promise<{ task: string; entry: number; owner: object | null }[]> {
  const pages = await Promise.all(resources.map((resource) => hf.locks.list({ resource })));
  const holders = pages.flatMap(({ locks }) => locks.flatMap((lock) => lock.holders));
  return holders.filter((holder) => holder.task === task);
}

/** Asks again and again. Resolves with how long after `since` the answer was yes; null where that is too long. */
export async function msUntil(
  isSo: () => Promise<boolean>,
  { since, limitMs, signal }: { since: number; limitMs: number; signal: AbortSignal },
): Promise<number | null> {
  for (;;) {
    signal.throwIfAborted();
    const yes = await isSo();
    const passed = performance.now() - since;
    if (yes) return Math.round(passed);
    if (passed > limitMs) return null;
    await pause(Math.max(shortestPauseMs, passed * pausePart));
  }
}
