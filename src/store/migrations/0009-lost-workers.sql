-- Marks a worker dead for good: with a counter only where that is still its counter. FOR UPDATE waits for the claims,
-- finishes and give-backs of the worker that are under way (an UPDATE alone would pass them by), and they wait for this;
-- so does a beat, which then changes nothing. Who keeps the row locked delays nothing else (G5).
CREATE FUNCTION holdfast.reap_worker(worker bigint, counter bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s'
AS $$
DECLARE
  known record;
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT w.reaped, w.counter INTO known FROM holdfast.workers w
  WHERE w.incarnation = reap_worker.worker FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'gone';
  END IF;
  IF known.reaped THEN
    RETURN 'already';
  END IF;
  IF known.counter <> reap_worker.counter THEN
    RETURN 'alive';
  END IF;
  -- Without a server, or on another timeline, it has fenced itself and could not say so. Not so where both end together,
  -- as embedded.
  UPDATE holdfast.workers w SET reaped = true, stopped_itself = w.stopped_itself OR (
    (w.server_start <> pg_postmaster_start_time() OR NOT holdfast.on_timeline(w.timeline))
    AND EXISTS (SELECT FROM holdfast.namespace n WHERE n.table_kind = 'redis')
  )
  WHERE w.incarnation = reap_worker.worker;
  RETURN 'reaped';
END
$$;

-- Deletes the row of a worker that runs nothing and waits for no lock. The lock waits for its claims under way, and the next statement
-- sees what they did.
CREATE FUNCTION holdfast.remove_worker(worker bigint) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
BEGIN
  PERFORM holdfast.require_read_committed();
  PERFORM FROM holdfast.workers w WHERE w.incarnation = remove_worker.worker FOR UPDATE;
  IF EXISTS (
    SELECT FROM holdfast.tasks t
    WHERE t.worker = remove_worker.worker AND t.state IN ('running', 'canceling', 'rolling_back')
  ) OR EXISTS (
    SELECT FROM holdfast.tasks t WHERE t.requester = remove_worker.worker AND t.state = 'waiting'
  ) THEN
    RETURN 'running';
  END IF;
  DELETE FROM holdfast.workers w WHERE w.incarnation = remove_worker.worker;
  RETURN 'removed';
END
$$;

-- What becomes of a task whose worker was lost, or has stopped itself, while the task ran or was being canceled: canceled,
-- crashed, failed, retry, or given-back. `crashes` counts this one, unless it is `uncounted`: neither a failed attempt nor
-- a crash. Without SET clauses, to become part of the statement.
CREATE FUNCTION holdfast.fate_of_lost(state text, attempt integer, crashes integer, policies jsonb, uncounted boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
  WHEN state = 'canceling' THEN 'canceled'
  WHEN NOT uncounted AND crashes >= coalesce((policies ->> 'maxCrashes')::integer, 3) THEN 'crashed'
  WHEN policies ->> 'onWorkerLost' = 'fail' THEN 'failed'
  WHEN uncounted OR policies ->> 'onWorkerLost' = 'retry' THEN 'given-back'
  WHEN attempt >= coalesce((policies ->> 'maxAttempts')::integer, 1) THEN 'failed'
  ELSE 'retry'
END;

-- Settles running tasks of a worker that was reaped or has no row, each by its policy. For each the next entry where it
-- was given back, also to be rolled back; 0 where it failed, is canceled, or was an ad-hoc lock and is gone; -1 where
-- somebody else keeps its row locked, which keeps no other task back (G5); NULL where the task is not that worker's any
-- more. Nothing is returned while the worker lives. Nobody knows whether a handler had begun, so its task is rolled back
-- where it can be. Two kinds are given back and not counted: tasks of a worker that has stopped itself, and its tasks with it, as
-- in a planned stop; and those without policies, which are written before a handler begins.
CREATE FUNCTION holdfast.settle_lost_tasks(worker bigint, ids uuid[], entries integer[])
RETURNS TABLE (ordinal integer, next_entry integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s'
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  known record;
  stopped boolean;
  rows tid[];
  ordinals integer[];
  fates text[];
  errors json[];
  uncounted boolean[];
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT w.reaped, w.stopped_itself INTO known FROM holdfast.workers w
  WHERE w.incarnation = settle_lost_tasks.worker;
  IF FOUND AND NOT known.reaped THEN
    RETURN;
  END IF;
  stopped := coalesce(known.stopped_itself, false);

  SELECT array_agg(lost.version), array_agg(c.ordinal::integer) INTO rows, ordinals
  FROM (
    SELECT * FROM unnest(settle_lost_tasks.ids, settle_lost_tasks.entries) WITH ORDINALITY AS u (id, entry, ordinal)
    ORDER BY u.id
  ) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry AND t.state IN ('running', 'canceling', 'rolling_back')
      AND t.worker = settle_lost_tasks.worker
    FOR NO KEY UPDATE SKIP LOCKED
  ) lost;

  IF coalesce(cardinality(ordinals), 0) < cardinality(settle_lost_tasks.ids) THEN
    RETURN QUERY
    SELECT c.ordinal::integer, CASE WHEN EXISTS (
      SELECT FROM holdfast.tasks t
      WHERE t.id = c.id AND t.entry = c.entry AND t.state IN ('running', 'canceling', 'rolling_back')
        AND t.worker = settle_lost_tasks.worker
    ) THEN -1 END
    FROM unnest(settle_lost_tasks.ids, settle_lost_tasks.entries) WITH ORDINALITY AS c (id, entry, ordinal)
    WHERE c.ordinal <> ALL (coalesce(ordinals, '{}'));
  END IF;

  -- Each statement finds only the row versions that none before it has replaced.
  RETURN QUERY
  DELETE FROM holdfast.tasks t USING unnest(rows, ordinals) AS l (version, ordinal)
  WHERE t.ctid = l.version AND t.requester IS NOT NULL
  RETURNING l.ordinal, 0;

  WITH counted AS (
    UPDATE holdfast.tasks t SET crashes = t.crashes + CASE WHEN stopped OR t.policies IS NULL THEN 0 ELSE 1 END
    FROM unnest(rows, ordinals) AS l (version, ordinal)
    WHERE t.ctid = l.version
    RETURNING t.ctid AS version, l.ordinal, stopped OR t.policies IS NULL AS uncounted,
      holdfast.fate_of_lost(t.state, t.attempt, t.crashes, t.policies, stopped OR t.policies IS NULL) AS fate
  )
  SELECT array_agg(c.version), array_agg(c.ordinal), array_agg(c.fate), array_agg(c.uncounted), array_agg(
    CASE WHEN NOT c.uncounted OR c.fate = 'failed' THEN json_strip_nulls(json_build_object(
      'code', 'WorkerLost', 'message', 'Worker has gone missing.', 'reason', CASE c.fate WHEN 'crashed' THEN 'crashed' END
    )) END
  ) INTO rows, ordinals, fates, uncounted, errors
  FROM counted c;

  RETURN QUERY
  SELECT l.ordinal, b.next_entry
  FROM unnest(rows, ordinals, fates, errors) AS l (version, ordinal, fate, error)
  CROSS JOIN LATERAL (
    SELECT FROM holdfast.tasks t WHERE t.ctid = l.version AND t.policies ->> 'rollbackTimeoutMs' IS NOT NULL
  ) has_one
  CROSS JOIN LATERAL holdfast.begin_rollback(
    l.version, CASE l.fate WHEN 'crashed' THEN 'failed' ELSE l.fate END, l.error, NULL,
    CASE WHEN stopped AND l.fate = 'given-back' THEN 'given-back' ELSE 'lost' END
  ) b;

  RETURN QUERY
  SELECT l.ordinal, b.next_entry
  FROM unnest(rows, ordinals) AS l (version, ordinal)
  CROSS JOIN LATERAL (
    SELECT FROM holdfast.tasks t WHERE t.ctid = l.version AND t.state = 'rolling_back'
  ) is_one
  CROSS JOIN LATERAL holdfast.give_back_rollback(
    l.version, CASE WHEN stopped THEN 'rollback-given-back' ELSE 'rollback-lost' END
  ) b;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = CASE l.fate WHEN 'crashed' THEN 'failed' ELSE l.fate END,
    finished_at = clock_timestamp(), rollback_error = NULL,
    error = CASE WHEN l.fate <> 'canceled' THEN l.error END,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker, 'lost', l.error)
  FROM unnest(rows, ordinals, fates, errors) AS l (version, ordinal, fate, error)
  WHERE t.ctid = l.version AND t.state <> 'rolling_back' AND l.fate IN ('crashed', 'failed', 'canceled')
  RETURNING l.ordinal, 0;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, admitted_epoch = -1,
    attempt = t.attempt - CASE l.fate WHEN 'given-back' THEN 1 ELSE 0 END,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker,
      CASE WHEN l.uncounted THEN 'given-back' ELSE 'lost' END, l.error)
  FROM unnest(rows, ordinals, fates, errors, uncounted) AS l (version, ordinal, fate, error, uncounted)
  WHERE t.ctid = l.version AND t.state <> 'rolling_back' AND l.fate IN ('given-back', 'retry')
  RETURNING l.ordinal, t.entry;
END
$$;
