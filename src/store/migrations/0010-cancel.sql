-- The hold of a task that was waiting when it was decided that it does not go on. The statement that decides writes
-- it, so that nobody has to live on: admission takes the hold out of the lock table, and then the mark away.
ALTER TABLE holdfast.tasks ADD COLUMN take_out boolean NOT NULL DEFAULT false;
CREATE INDEX tasks_to_take_out ON holdfast.tasks (place) WHERE take_out;

-- Asks for a task to end without doing its work: one that waits is canceled at once; one that runs is canceled when
-- its worker has stopped it. Returns the states before and after, which are one for a task that is in a final state
-- or is being canceled already; nothing for an unknown id. In the caller's transaction.
CREATE FUNCTION holdfast.cancel(id uuid) RETURNS TABLE (before text, after text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT t.state INTO before FROM holdfast.tasks t WHERE t.id = cancel.id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  after := CASE before WHEN 'waiting' THEN 'canceled' WHEN 'running' THEN 'canceling' ELSE before END;
  IF before = 'waiting' THEN
    UPDATE holdfast.tasks t SET state = after, finished_at = clock_timestamp(), error = NULL, take_out = true
    WHERE t.id = cancel.id;
  ELSIF before = 'running' THEN
    UPDATE holdfast.tasks t SET state = after WHERE t.id = cancel.id;
  END IF;
  RETURN NEXT;
END
$$;

-- As in 0006-finish.sql, also for tasks that are being canceled.
CREATE OR REPLACE FUNCTION holdfast.lock_running(worker bigint, ids uuid[], entries integer[])
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
    WHERE t.id = c.id AND t.entry = c.entry AND t.state IN ('running', 'canceling')
      AND t.worker = lock_running.worker
    FOR NO KEY UPDATE
  ) running;
END
$$;

-- As in 0006-finish.sql; whatever the attempt of a task ended with that is being canceled, it is canceled. Returns
-- the states as well.
DROP FUNCTION holdfast.finish_tasks(bigint, uuid[], integer[], text[], text[], text[], bigint[]);
CREATE FUNCTION holdfast.finish_tasks(
  worker bigint, ids uuid[], entries integer[], states text[], results text[], errors text[], delays bigint[]
) RETURNS TABLE (finished uuid, finished_entry integer, finished_state text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
  ordinals integer[];
BEGIN
  SELECT array_agg(l.version), array_agg(l.ordinal) INTO rows, ordinals
  FROM holdfast.lock_running(finish_tasks.worker, finish_tasks.ids, finish_tasks.entries) l;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = CASE t.state WHEN 'canceling' THEN 'canceled' ELSE f.state END,
    finished_at = clock_timestamp(),
    result = CASE t.state WHEN 'canceling' THEN NULL ELSE f.result::json END,
    error = CASE t.state WHEN 'canceling' THEN NULL ELSE f.error::json END
  FROM (
    SELECT l.version, states[l.ordinal] AS state, results[l.ordinal] AS result, errors[l.ordinal] AS error
    FROM unnest(rows, ordinals) AS l (version, ordinal)
  ) f
  WHERE t.ctid = f.version AND (f.state <> 'retry' OR t.state = 'canceling')
  RETURNING t.id, t.entry, t.state;

  IF 'retry' <> ALL (states) THEN
    RETURN;
  END IF;
  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, place = nextval('holdfast.places'), admitted_epoch = 0,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL, error = f.error::json,
    run_at = f.run_at, due = f.run_at <= clock_timestamp()
  FROM (
    SELECT l.version, errors[l.ordinal] AS error,
      clock_timestamp() + delays[l.ordinal] * interval '1 millisecond' AS run_at
    FROM unnest(rows, ordinals) AS l (version, ordinal)
    WHERE states[l.ordinal] = 'retry'
  ) f
  WHERE t.ctid = f.version
  RETURNING t.id, t.entry - 1, t.state;
END
$$;

-- As in 0007-give-back.sql. One that is being canceled is canceled, with 0 for the next entry.
CREATE OR REPLACE FUNCTION holdfast.give_back_tasks(worker bigint, ids uuid[], entries integer[])
RETURNS TABLE (given_back uuid, next_entry integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
BEGIN
  IF holdfast.hold_worker(give_back_tasks.worker) IS NULL THEN
    RETURN;
  END IF;
  SELECT array_agg(known.version) INTO rows
  FROM (
    SELECT * FROM unnest(give_back_tasks.ids, give_back_tasks.entries) AS u (id, entry) ORDER BY u.id
  ) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry
      AND (t.state = 'waiting' OR t.state IN ('running', 'canceling') AND t.worker = give_back_tasks.worker)
    FOR NO KEY UPDATE
  ) known;

  RETURN QUERY
  UPDATE holdfast.tasks t SET state = 'canceled', finished_at = clock_timestamp(), error = NULL
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.state = 'canceling'
  RETURNING t.id, 0;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, admitted_epoch = 0,
    attempt = t.attempt - CASE t.state WHEN 'running' THEN 1 ELSE 0 END,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.state <> 'canceling'
  RETURNING t.id, t.entry;
END
$$;

-- As in 0007-give-back.sql; a task that is being canceled is not readmitted.
CREATE OR REPLACE FUNCTION holdfast.readmit_task(
  worker bigint, id uuid, entry integer, exclusive text[], shared text[]
) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  locked tid;
  next_entry integer;
BEGIN
  SELECT l.version INTO locked
  FROM holdfast.lock_running(readmit_task.worker, ARRAY[readmit_task.id], ARRAY[readmit_task.entry]) l;
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, admitted_epoch = 0, attempt = t.attempt - 1, readmitted = true,
    exclusive = readmit_task.exclusive, shared = readmit_task.shared,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL
  WHERE t.ctid = locked AND t.state = 'running' AND NOT t.readmitted
  RETURNING t.entry INTO next_entry;
  RETURN next_entry;
END
$$;

-- As in 0009-lost-workers.sql; a task that was being canceled is canceled.
CREATE OR REPLACE FUNCTION holdfast.settle_lost_task(worker bigint, id uuid, entry integer) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  lost holdfast.tasks;
  on_worker_lost text;
  crashed boolean;
BEGIN
  PERFORM holdfast.require_read_committed();
  IF EXISTS (SELECT FROM holdfast.workers w WHERE w.incarnation = settle_lost_task.worker AND NOT w.reaped) THEN
    RETURN NULL;
  END IF;
  SELECT t.* INTO lost FROM holdfast.tasks t
  WHERE t.id = settle_lost_task.id AND t.entry = settle_lost_task.entry
    AND t.state IN ('running', 'canceling') AND t.worker = settle_lost_task.worker
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF lost.state = 'canceling' THEN
    UPDATE holdfast.tasks t
    SET state = 'canceled', finished_at = clock_timestamp(), error = NULL, crashes = t.crashes + 1
    WHERE t.id = settle_lost_task.id;
    RETURN 0;
  END IF;

  on_worker_lost := lost.policies ->> 'onWorkerLost';
  crashed := lost.crashes + 1 >= coalesce((lost.policies ->> 'maxCrashes')::integer, 3);
  IF crashed OR on_worker_lost = 'fail'
    OR on_worker_lost IS NULL AND lost.attempt >= coalesce((lost.policies ->> 'maxAttempts')::integer, 1)
  THEN
    UPDATE holdfast.tasks t
    SET state = 'failed', finished_at = clock_timestamp(), crashes = t.crashes + 1,
      error = json_strip_nulls(json_build_object('code', 'WorkerLost', 'message', 'Worker has gone missing.',
        'reason', CASE WHEN crashed THEN 'crashed' END))
    WHERE t.id = settle_lost_task.id;
    RETURN 0;
  END IF;
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, admitted_epoch = 0, crashes = t.crashes + 1,
    attempt = t.attempt - CASE on_worker_lost WHEN 'retry' THEN 1 ELSE 0 END,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL
  WHERE t.id = settle_lost_task.id;
  RETURN lost.entry + 1;
END
$$;

-- Takes the marks of take_out away, once the holds are gone.
CREATE FUNCTION holdfast.clear_take_outs(ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
BEGIN
  SELECT array_agg(marked.version) INTO rows
  FROM unnest(clear_take_outs.ids) AS c (id)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t WHERE t.id = c.id AND t.take_out FOR NO KEY UPDATE SKIP LOCKED
  ) marked;
  UPDATE holdfast.tasks t SET take_out = false FROM unnest(rows) AS c (version) WHERE t.ctid = c.version;
END
$$;
