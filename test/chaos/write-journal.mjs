// What handlers and holders of locks write down about themselves, each line in one write to a file that all append to.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const path = process.env.CHAOS_JOURNAL;
const aliveEveryMs = 50;

// The line break comes first, so that what a killed process left half-written spoils no line but its own.
const write = (line) =>
  appendFileSync(path, `\n${JSON.stringify({ ...line, at: Number(process.hrtime.bigint() / 1_000n) })}`);

/** Runs `work` as what the subject says, and tells of its start, its life and its end. */
export async function journaled(subject, work) {
  const { task, entry } = subject;
  const { pid } = process;
  write({ kind: 'start', ...subject, pid });
  const alive = () => write({ kind: 'alive', task, entry, pid });
  let outcome = 'error';
  try {
    const result = await work(alive);
    outcome = 'ok';
    return result;
  } finally {
    write({ kind: 'end', task, entry, pid, outcome });
  }
}

/** Heeds the signal, where there is one. */
export async function rest(ms, alive, signal) {
  for (let left = ms; left > 0; left -= aliveEveryMs) {
    await delay(Math.min(left, aliveEveryMs), undefined, { signal });
    signal?.throwIfAborted();
    alive();
  }
}

/** Keeps its thread all the time. */
export function spin(ms, alive) {
  const until = performance.now() + ms;
  let nextLine = performance.now() + aliveEveryMs;
  while (performance.now() < until) {
    if (performance.now() < nextLine) continue;
    alive();
    // Not one for each that was missed: the lines are to tell how much time it was given.
    nextLine = performance.now() + aliveEveryMs;
  }
}
