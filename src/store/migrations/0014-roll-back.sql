-- The history of a task with one more attempt, or roll-back, that ends now: the last 20 are kept. `error` may hold any
-- text, so it is written as it is and never read here. Without SET clauses, so that it becomes part of the statement.
CREATE FUNCTION holdfast.with_attempt(
  attempts json[], attempt integer, started_at timestamptz, worker_name text, worker bigint, outcome text, error json
) RETURNS json[]
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN attempts[greatest(cardinality(attempts) - 18, 1):] || json_build_object(
  'attempt', attempt,
  'startedAt', to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'endedAt', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'worker', CASE WHEN worker IS NOT NULL THEN json_build_object('name', worker_name, 'incarnation', worker::text) END,
  'outcome', outcome,
  'error', error);
