-- The tasks of `ids` that the worker runs with these entries: their row versions, locked in order of id, with the
-- ordinal numbers of the three arrays' elements. Nothing for a worker that was reaped or is gone.
CREATE FUNCTION holdfast.lock_running(worker bigint, ids uuid[], entries integer[])
RETURNS TABLE (version tid, ordinal integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
  IF holdfast.hold_worker(lock_running.worker) IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT running.version, c.ordinal::integer
  FROM (
    SELECT * FROM unnest(lock_running.ids, lock_running.entries) WITH ORDINALITY AS u (id, entry, ordinal)
    ORDER BY u.id
  ) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry AND t.state IN ('running', 'canceling', 'rolling_back')
      AND t.worker = lock_running.worker
    FOR NO KEY UPDATE
  ) running;
END
$$;

-- Final states and retries. Returns the tasks that changed, with the entries that they were finished in and the states
-- that they have now: whatever the attempt of a task ended with that is being canceled, it is canceled. `states` are
-- completed, failed or retry, and for a roll-back how it ended: rolled-back, or the reason of its error. `results` and
-- `errors` are JSON texts; `delays` in milliseconds. A retry waits at a new place, once it is due. `roll_back` names the
-- attempts that had begun to do something: where they end without having completed, by the policies of the task, they
-- are rolled back first. `crashed` names those that ended by a crash, which counts whatever becomes of the task.
CREATE FUNCTION holdfast.finish_tasks(
  worker bigint, ids uuid[], entries integer[], states text[], results text[], errors text[], delays bigint[],
  roll_back boolean[], crashed boolean[]
) RETURNS TABLE (finished uuid, finished_entry integer, finished_state text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
  ordinals integer[];
  counted tid;
BEGIN
  SELECT array_agg(l.version), array_agg(l.ordinal) INTO rows, ordinals
  FROM holdfast.lock_running(finish_tasks.worker, finish_tasks.ids, finish_tasks.entries) l;

  IF true = ANY (finish_tasks.crashed) THEN
    FOR i IN 1 .. coalesce(cardinality(rows), 0) LOOP
      IF finish_tasks.crashed[ordinals[i]] THEN
        UPDATE holdfast.tasks t SET crashes = t.crashes + 1 WHERE t.ctid = rows[i] RETURNING t.ctid INTO counted;
        rows[i] := counted;
      END IF;
    END LOOP;
  END IF;

  -- Each statement finds only the row versions that none before it has replaced.
  IF true = ANY (finish_tasks.roll_back) THEN
    RETURN QUERY
    SELECT b.task, b.next_entry - 1, 'rolling_back'
    FROM unnest(rows, ordinals) AS l (version, ordinal)
    CROSS JOIN LATERAL holdfast.begin_rollback(
      l.version, states[l.ordinal], errors[l.ordinal]::json, delays[l.ordinal]
    ) b
    WHERE finish_tasks.roll_back[l.ordinal];
  END IF;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = CASE t.state WHEN 'canceling' THEN 'canceled' ELSE f.state END,
    finished_at = clock_timestamp(),
    result = CASE t.state WHEN 'canceling' THEN NULL ELSE f.result::json END,
    error = CASE t.state WHEN 'canceling' THEN NULL ELSE f.error::json END,
    rollback_error = NULL,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker,
      CASE t.state WHEN 'canceling' THEN 'canceled' ELSE f.state END, f.error::json)
  FROM (
    SELECT l.version, states[l.ordinal] AS state, results[l.ordinal] AS result, errors[l.ordinal] AS error
    FROM unnest(rows, ordinals) AS l (version, ordinal)
  ) f
  WHERE t.ctid = f.version AND CASE t.state
      WHEN 'running' THEN f.state IN ('completed', 'failed')
      WHEN 'canceling' THEN f.state IN ('completed', 'failed', 'retry')
      ELSE false
    END
  RETURNING t.id, t.entry, t.state;

  IF 'retry' = ANY (states) THEN
    RETURN QUERY
    UPDATE holdfast.tasks t
    SET state = 'waiting', entry = t.entry + 1, place = nextval('holdfast.places'), admitted_epoch = 0,
      worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL, error = f.error::json, rollback_error = NULL,
      run_at = f.run_at, due = f.run_at <= clock_timestamp(),
      attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker, 'retried',
        f.error::json)
    FROM (
      SELECT l.version, errors[l.ordinal] AS error,
        clock_timestamp() + delays[l.ordinal] * interval '1 millisecond' AS run_at
      FROM unnest(rows, ordinals) AS l (version, ordinal)
      WHERE states[l.ordinal] = 'retry'
    ) f
    WHERE t.ctid = f.version AND t.state <> 'rolling_back'
    RETURNING t.id, t.entry - 1, t.state;
  END IF;

  IF states && ARRAY['rolled-back', 'rollback-failed', 'rollback-timed-out', 'rollback-not-run'] THEN
    RETURN QUERY
    SELECT e.task, e.ended_entry, e.now_state
    FROM unnest(rows, ordinals) AS l (version, ordinal)
    CROSS JOIN LATERAL holdfast.end_rollback(l.version, states[l.ordinal], errors[l.ordinal]::json) e
    WHERE states[l.ordinal] LIKE 'roll%';
  END IF;
END
$$;
