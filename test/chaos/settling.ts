import type { RunningSystem } from './system.js';
import { setTimeout as delay } from 'node:timers/promises';

export interface Settling {
  /** Until everything was final. */
  ms: number;
  /** How many tasks were not, when it was given up. */
  left: number;
}

/**
 * Waits until each task is final, with nothing of it to be taken out, and each worker that is no more is gone from the
 * database. While fewer are left than a while ago it goes on; without that for so long, they are stuck. Rejects when the
 * signal aborts.
 */
export async function settled(
  system: RunningSystem,
  stuckAfterMs: number,
  signal: AbortSignal,
): Promise<Settling> {
  const started = performance.now();
  let fewest = Number.MAX_SAFE_INTEGER;
  let fewestSince = started;
  for (;;) {
    const left = await unsettled(system).catch(() => fewest);
    const ms = performance.now() - started;
    if (left === 0) return { ms, left };
    if (left < fewest) {
      fewest = left;
      fewestSince = performance.now();
    }
    if (performance.now() - fewestSince > stuckAfterMs) return { ms, left };
    await delay(250, undefined, { signal });
  }
}

async function unsettled({ pool, namespace, fleet }: RunningSystem): Promise<number> {
  const { rows } = await pool.query<{ left: number }>(
    `SELECT count(*)::int AS left FROM "${namespace}".tasks
     WHERE state NOT IN ('completed', 'failed', 'canceled') OR take_out IS NOT NULL`,
  );
  const workers = await pool.query<{ pid: number }>(`SELECT pid FROM "${namespace}".workers`);
  const alive = new Set(fleet.members.map(({ life }) => life?.pid));
  return rows[0]!.left + workers.rows.filter(({ pid }) => !alive.has(pid)).length;
}
