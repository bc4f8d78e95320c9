import type { Session } from './session.js';

/** How many of the tasks are in which state; what is left of the million has completed. */
export const share = {
  admitted: 100_000,
  unserved: 50_000,
  scheduled: 50_000,
  due: 2_000,
  running: 5_000,
  fresh: 500,
};

/** The id of the n-th task. */
export function taskId(n: number): string {
  const hex = n.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Fills the tables of a namespace with a million tasks, with every constraint and index in place and no ANALYZE. The
 * states are spread over the whole table: task n is of the kind that `n * 7919 % 1,000,000` falls into.
 */
export async function fillWithMillion(session: Session, namespace: string, epoch: string): Promise<void> {
  const bounds: Record<string, number> = {};
  let upTo = 0;
  for (const [kind, count] of Object.entries(share)) bounds[kind] = upTo += count;
  const kind = `CASE ${Object.entries(bounds)
    .map(([name, bound]) => `WHEN k < ${bound} THEN '${name}'`)
    .join(' ')} WHEN k % 20 = 0 THEN 'failed' ELSE 'completed' END`;
  await session.query(`
    INSERT INTO "${namespace}".tasks (id, name, state, payload, exclusive, shared, admitted_epoch, due, run_at,
      worker, worker_name, fence, started_at, finished_at, attempt, result, error)
    SELECT lpad(to_hex(n), 32, '0')::uuid,
      CASE kind WHEN 'unserved' THEN 'unserved' ELSE 'name-' || n % 20 END,
      CASE WHEN kind IN ('admitted', 'unserved', 'scheduled', 'due', 'fresh') THEN 'waiting' ELSE kind END,
      '{"repo":7}', ARRAY['repo:' || n % 1000], ARRAY['store'],
      CASE kind WHEN 'admitted' THEN ${epoch} ELSE 0 END,
      kind NOT IN ('scheduled', 'due'),
      CASE kind WHEN 'scheduled' THEN now() + interval '1 day' WHEN 'due' THEN now() - interval '1 minute' END,
      CASE WHEN ran THEN 1 + n % 50 END, CASE WHEN ran THEN 'w' END, CASE WHEN ran THEN '0' END,
      CASE WHEN ran THEN now() END, CASE WHEN kind IN ('completed', 'failed') THEN now() END,
      CASE WHEN ran THEN 1 ELSE 0 END,
      CASE kind WHEN 'completed' THEN '{"files":12}'::json END, CASE kind WHEN 'failed' THEN '{}'::json END
    FROM (
      SELECT n, kind, kind IN ('running', 'completed', 'failed') AS ran
      FROM (SELECT n, ${kind} AS kind FROM (SELECT n, n * 7919::bigint % 1000000 AS k FROM generate_series(1, 1000000) n) a) b
    ) c`);
}
