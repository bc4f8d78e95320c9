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

-- Gives a task whose row is locked back to be rolled back, where its policies say so: the next entry, nobody's, at its
-- place. `ended` is what the attempt ended with, as in finish_tasks, or an outcome; `recorded` is what its history
-- tells, where that is something else. No row for a task that is not rolled back: it completed, or has no roll-back.
CREATE FUNCTION holdfast.begin_rollback(version tid, ended text, error json, delay_ms bigint, recorded text DEFAULT NULL)
RETURNS TABLE (task uuid, next_entry integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  over holdfast.tasks;
  decided text;
BEGIN
  SELECT t.* INTO over FROM holdfast.tasks t WHERE t.ctid = begin_rollback.version;
  decided := CASE over.state WHEN 'canceling' THEN 'canceled' WHEN 'running' THEN begin_rollback.ended END;
  IF decided IS NULL OR decided = 'completed' OR over.policies ->> 'rollbackTimeoutMs' IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = 'rolling_back', entry = t.entry + 1, worker = NULL, worker_name = NULL, fence = NULL,
    outcome = decided, outcome_delay_ms = CASE decided WHEN 'retry' THEN begin_rollback.delay_ms END,
    rollback_until = clock_timestamp() + (t.policies ->> 'rollbackTimeoutMs')::bigint * interval '1 millisecond',
    error = CASE decided WHEN 'canceled' THEN NULL ELSE coalesce(begin_rollback.error, t.error) END,
    rollback_error = NULL,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker,
      coalesce(begin_rollback.recorded, CASE decided WHEN 'retry' THEN 'retried' ELSE decided END),
      begin_rollback.error)
  WHERE t.ctid = begin_rollback.version
  RETURNING t.id, t.entry;
END
$$;

-- Gives a roll-back whose row is locked to whoever claims it next; its time limit goes on. No row for anything else.
CREATE FUNCTION holdfast.give_back_rollback(version tid, recorded text)
RETURNS TABLE (task uuid, next_entry integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  over holdfast.tasks;
BEGIN
  SELECT t.* INTO over FROM holdfast.tasks t WHERE t.ctid = give_back_rollback.version;
  IF over.state IS DISTINCT FROM 'rolling_back' THEN
    RETURN;
  END IF;
  RETURN QUERY
  UPDATE holdfast.tasks t
  SET entry = t.entry + 1, worker = NULL, worker_name = NULL, fence = NULL, rollback_started_at = NULL,
    attempts = CASE WHEN t.worker IS NULL THEN t.attempts ELSE holdfast.with_attempt(t.attempts, t.attempt,
      t.rollback_started_at, t.worker_name, t.worker, give_back_rollback.recorded, NULL) END
  WHERE t.ctid = give_back_rollback.version
  RETURNING t.id, t.entry;
END
$$;

-- Ends a roll-back whose row is locked: now the stored outcome comes to pass. Returns the entry that has ended, and the
-- state that the task has now. No row for anything else.
CREATE FUNCTION holdfast.end_rollback(version tid, ended text, error json, take_out boolean DEFAULT false)
RETURNS TABLE (task uuid, ended_entry integer, now_state text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  over holdfast.tasks;
  final boolean;
  retry_at timestamptz;
BEGIN
  SELECT t.* INTO over FROM holdfast.tasks t WHERE t.ctid = end_rollback.version;
  IF over.state IS DISTINCT FROM 'rolling_back' THEN
    RETURN;
  END IF;
  final := over.outcome IN ('failed', 'canceled');
  retry_at := clock_timestamp() + over.outcome_delay_ms * interval '1 millisecond';
  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = CASE WHEN final THEN over.outcome ELSE 'waiting' END,
    finished_at = CASE WHEN final THEN clock_timestamp() END,
    entry = t.entry + CASE WHEN final THEN 0 ELSE 1 END,
    attempt = t.attempt - CASE over.outcome WHEN 'given-back' THEN 1 ELSE 0 END,
    place = CASE WHEN retry_at IS NULL THEN t.place ELSE nextval('holdfast.places') END,
    run_at = coalesce(retry_at, t.run_at), due = coalesce(retry_at <= clock_timestamp(), true),
    admitted_epoch = CASE WHEN final THEN t.admitted_epoch ELSE -1 END,
    worker = CASE WHEN final THEN t.worker END, worker_name = CASE WHEN final THEN t.worker_name END,
    fence = CASE WHEN final THEN t.fence END, started_at = CASE WHEN final THEN t.started_at END,
    outcome = NULL, outcome_delay_ms = NULL, rollback_until = NULL, rollback_started_at = NULL,
    rollback_error = end_rollback.error,
    take_out = CASE WHEN end_rollback.take_out THEN over.entry ELSE t.take_out END,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.rollback_started_at, t.worker_name, t.worker,
      end_rollback.ended, end_rollback.error)
  WHERE t.ctid = end_rollback.version
  RETURNING t.id, over.entry, t.state;
END
$$;

-- Ends roll-backs that nobody has claimed in time, those that should have ended first at first; returns how many. Their
-- holds are to be taken out. A row that somebody is changing is left for the next pass of admission.
CREATE FUNCTION holdfast.end_unclaimed_rollbacks(row_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
BEGIN
  SELECT array_agg(unclaimed.version) INTO rows
  FROM (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.state = 'rolling_back' AND t.worker IS NULL AND t.rollback_until <= now()
    ORDER BY t.rollback_until
    LIMIT end_unclaimed_rollbacks.row_limit
    FOR NO KEY UPDATE SKIP LOCKED
  ) unclaimed;
  RETURN (
    SELECT count(e.task) FROM unnest(rows) AS c (version)
    CROSS JOIN LATERAL holdfast.end_rollback(c.version, 'rollback-not-run',
      json_build_object('code', 'RollbackNotRun', 'message', 'No worker has run the roll-back in time.',
        'reason', 'rollback-not-run'), true) e
  );
END
$$;
