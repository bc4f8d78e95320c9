import type { RunningSystem } from './system.js';
import { waitUntil } from '../helpers/wait-until.js';
import { ownQueue } from './fleet.js';

/** More than a worker takes for its way back, whatever it has to wait for. */
const limitMs = 20_000;

/** No process lives without working: each worker runs a task that only it serves. What did not, as sentences. */
export async function findIdle(system: RunningSystem): Promise<string[]> {
  const outcomes = await Promise.all(
    system.fleet.workers.map(async ({ name }) => ((await works(system, name)) ? [] : [name])),
  );
  return outcomes
    .flat()
    .map((name) => `${name} lives, and has not run a task of its own within ${limitMs / 1_000} s.`);
}

async function works({ pool, namespace }: RunningSystem, name: string): Promise<boolean> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT "${namespace}".dispatch('chaos.answers', 'null', '{}', '{}', $1) AS id`,
    [ownQueue(name)],
  );
  const [{ id } = { id: '' }] = rows;
  const completed = async (): Promise<boolean> => {
    const found = await pool.query<{ state: string }>(
      `SELECT state FROM "${namespace}".tasks WHERE id = $1`,
      [id],
    );
    return found.rows[0]?.state === 'completed';
  };
  const done = await waitUntil(completed, `${name} works`, limitMs).then(
    () => true,
    () => false,
  );
  // It is none of the work that is judged.
  await pool.query(`DELETE FROM "${namespace}".tasks WHERE id = $1`, [id]);
  return done;
}
