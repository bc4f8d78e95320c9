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
  UPDATE holdfast.workers w SET reaped = true WHERE w.incarnation = reap_worker.worker;
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

-- Settles one running task of a worker that was reaped or has no row, by its policy. Returns the next entry where it
-- was given back, also to be rolled back; 0 where it failed, is canceled, or was an ad-hoc lock and is gone; NULL where
-- the task is not that worker's any more. Nobody knows whether its handler had begun, so it is rolled back where it can be.
-- Who keeps the row locked keeps the other tasks of the worker back for a second at most (G5).
CREATE FUNCTION holdfast.settle_lost_task(worker bigint, id uuid, entry integer) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s'
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  lost holdfast.tasks;
  on_worker_lost text;
  crashed boolean;
  lost_error json;
  decided text;
  version tid;
  next_entry integer;
BEGIN
  PERFORM holdfast.require_read_committed();
  IF EXISTS (SELECT FROM holdfast.workers w WHERE w.incarnation = settle_lost_task.worker AND NOT w.reaped) THEN
    RETURN NULL;
  END IF;
  SELECT t.* INTO lost FROM holdfast.tasks t
  WHERE t.id = settle_lost_task.id AND t.entry = settle_lost_task.entry
    AND t.state IN ('running', 'canceling', 'rolling_back') AND t.worker = settle_lost_task.worker
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF lost.requester IS NOT NULL THEN
    DELETE FROM holdfast.tasks t WHERE t.id = settle_lost_task.id;
    RETURN 0;
  END IF;
  IF lost.state = 'rolling_back' THEN
    UPDATE holdfast.tasks t SET crashes = t.crashes + 1 WHERE t.id = lost.id RETURNING t.ctid INTO version;
    RETURN (SELECT b.next_entry FROM holdfast.give_back_rollback(version, 'rollback-lost') b);
  END IF;

  on_worker_lost := lost.policies ->> 'onWorkerLost';
  crashed := lost.state = 'running' AND lost.crashes + 1 >= coalesce((lost.policies ->> 'maxCrashes')::integer, 3);
  lost_error := json_strip_nulls(json_build_object('code', 'WorkerLost', 'message', 'Worker has gone missing.',
    'reason', CASE WHEN crashed THEN 'crashed' END));
  decided := CASE
    WHEN lost.state = 'canceling' THEN 'canceled'
    WHEN crashed OR on_worker_lost = 'fail' THEN 'failed'
    WHEN on_worker_lost = 'retry' THEN 'given-back'
    WHEN lost.attempt >= coalesce((lost.policies ->> 'maxAttempts')::integer, 1) THEN 'failed'
    ELSE 'retry'
  END;

  UPDATE holdfast.tasks t SET crashes = t.crashes + 1 WHERE t.id = lost.id RETURNING t.ctid INTO version;
  SELECT b.next_entry INTO next_entry FROM holdfast.begin_rollback(version, decided, lost_error, NULL, 'lost') b;
  IF FOUND THEN
    RETURN next_entry;
  END IF;
  UPDATE holdfast.tasks t
  SET attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker, 'lost', lost_error)
  WHERE t.id = lost.id;
  IF decided IN ('failed', 'canceled') THEN
    UPDATE holdfast.tasks t
    SET state = decided, finished_at = clock_timestamp(), rollback_error = NULL,
      error = CASE decided WHEN 'failed' THEN lost_error END
    WHERE t.id = lost.id;
    RETURN 0;
  END IF;
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, admitted_epoch = 0,
    attempt = t.attempt - CASE decided WHEN 'given-back' THEN 1 ELSE 0 END,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL
  WHERE t.id = lost.id;
  RETURN lost.entry + 1;
END
$$;
