-- Raises the entry of each task that waits with it or that the worker runs with it, which kills every late call for
-- the old one. The place stays; a task that ran loses the attempt that its claim counted. Returns the tasks that
-- changed with their next entries, whether they roll back with it, and whether their queues are paused. One that is being
-- canceled is canceled, with 0 for the next entry. `roll_back` as in finish_tasks; a roll-back itself stays one.
CREATE FUNCTION holdfast.give_back_tasks(worker bigint, ids uuid[], entries integer[], roll_back boolean[])
RETURNS TABLE (given_back uuid, next_entry integer, rolls_back boolean, paused boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
  ordinals integer[];
  paused_queues text[];
BEGIN
  IF holdfast.hold_worker(give_back_tasks.worker) IS NULL THEN
    RETURN;
  END IF;
  paused_queues := holdfast.hold_pauses();
  SELECT array_agg(known.version), array_agg(c.ordinal) INTO rows, ordinals
  FROM (
    SELECT * FROM unnest(give_back_tasks.ids, give_back_tasks.entries) WITH ORDINALITY AS u (id, entry, ordinal)
    ORDER BY u.id
  ) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry AND t.requester IS NULL
      AND CASE
        WHEN t.state = 'waiting' OR t.state = 'rolling_back' AND t.worker IS NULL THEN true
        ELSE t.state IN ('running', 'canceling', 'rolling_back') AND t.worker = give_back_tasks.worker
      END
    FOR NO KEY UPDATE
  ) known;

  RETURN QUERY
  SELECT b.task, b.next_entry, true, false
  FROM unnest(rows, ordinals) AS l (version, ordinal)
  CROSS JOIN LATERAL holdfast.begin_rollback(l.version, 'given-back', NULL, NULL) b
  WHERE give_back_tasks.roll_back[l.ordinal];

  RETURN QUERY
  SELECT b.task, b.next_entry, true, false
  FROM unnest(rows) AS l (version)
  CROSS JOIN LATERAL holdfast.give_back_rollback(l.version, 'rollback-given-back') b;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = 'canceled', finished_at = clock_timestamp(), error = NULL, rollback_error = NULL,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker, 'canceled', NULL)
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.state = 'canceling'
  RETURNING t.id, 0, false, false;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = 'waiting', entry = t.entry + 1, admitted_epoch = -1,
    attempt = t.attempt - CASE t.state WHEN 'running' THEN 1 ELSE 0 END,
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL,
    attempts = CASE t.state WHEN 'running' THEN holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name,
      t.worker, 'given-back', NULL) ELSE t.attempts END
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.state NOT IN ('canceling', 'rolling_back')
  RETURNING t.id, t.entry, false, t.queue = ANY (paused_queues);
END
$$;

-- Gives a running task back with other resources, once in its life. Returns the next entry, or NULL where it was
-- readmitted before, is being canceled or is not this worker's.
CREATE FUNCTION holdfast.readmit_task(
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
    worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL,
    attempts = holdfast.with_attempt(t.attempts, t.attempt, t.started_at, t.worker_name, t.worker, 'given-back', NULL)
  WHERE t.ctid = locked AND t.state = 'running' AND NOT t.readmitted
  RETURNING t.entry INTO next_entry;
  RETURN next_entry;
END
$$;

-- Policies for tasks that were dispatched without any.
CREATE FUNCTION holdfast.write_policies(worker bigint, ids uuid[], entries integer[], policies text[])
RETURNS void
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
  FROM holdfast.lock_running(write_policies.worker, write_policies.ids, write_policies.entries) l;
  UPDATE holdfast.tasks t SET policies = write_policies.policies[l.ordinal]::jsonb
  FROM unnest(rows, ordinals) AS l (version, ordinal)
  WHERE t.ctid = l.version AND t.policies IS NULL;
END
$$;

CREATE FUNCTION holdfast.write_progress(worker bigint, ids uuid[], entries integer[], progress text[])
RETURNS void
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
  FROM holdfast.lock_running(write_progress.worker, write_progress.ids, write_progress.entries) l;
  UPDATE holdfast.tasks t SET progress = write_progress.progress[l.ordinal]::json
  FROM unnest(rows, ordinals) AS l (version, ordinal)
  WHERE t.ctid = l.version;
END
$$;
