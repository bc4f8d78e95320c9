import type pg from 'pg';
import type { Row } from './history.js';

export async function readRows(pool: pg.Pool, namespace: string): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `SELECT id, name, state, entry, attempt, crashes, fence, place::text,
       (policies ->> 'maxAttempts')::int AS "maxAttempts",
       coalesce(error ->> 'reason', error ->> 'code', '') || ': ' || (error ->> 'message') AS error
     FROM "${namespace}".tasks ORDER BY place`,
  );
  return rows;
}
