-- Inserts one task that its inserter runs from the start, under a hold that was entered now or not: the checks of a
-- claim (0005-claim.sql), in their order. `number` grows from insert to insert of one worker. One row: `running` with
-- the task; else `epoch`, `reaped`, or `void` for a number that void_inserts has passed.
CREATE FUNCTION holdfast.insert_running(worker bigint, epoch bigint, number bigint, fence text, new_task text)
RETURNS TABLE (outcome text, task holdfast.tasks)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  committed_epoch bigint;
  inserter text;
  first_number bigint;
BEGIN
  PERFORM holdfast.require_read_committed();
  PERFORM pg_advisory_xact_lock_shared(holdfast.lock_key('epoch'));
  -- A statement of its own: its snapshot is taken after the lock, so it sees what a rebuild committed meanwhile.
  SELECT n.epoch INTO committed_epoch FROM holdfast.namespace n WHERE holdfast.on_timeline(n.timeline);
  IF committed_epoch IS DISTINCT FROM insert_running.epoch THEN
    outcome := 'epoch';
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT w.name, w.inserts_from INTO inserter, first_number FROM holdfast.workers w
  WHERE w.incarnation = insert_running.worker AND NOT w.reaped
  FOR KEY SHARE;
  IF inserter IS NULL OR insert_running.number < first_number THEN
    outcome := CASE WHEN inserter IS NULL THEN 'reaped' ELSE 'void' END;
    RETURN NEXT;
    RETURN;
  END IF;

  RETURN QUERY
  INSERT INTO holdfast.tasks AS t
    (id, name, queue, payload, exclusive, shared, priority, needs, parent, policies, requester,
     state, attempt, worker, worker_name, fence, started_at)
  SELECT
    n.id, n.name, n.queue, coalesce(n.payload, 'null'), n.exclusive, n.shared, n.priority, n.needs, n.parent, n.policies,
    CASE WHEN n.lock THEN insert_running.worker END,
    'running', 1, insert_running.worker, inserter, insert_running.fence, clock_timestamp()
  FROM jsonb_to_record(insert_running.new_task::jsonb) AS n (
    id uuid, name text, queue text, payload jsonb, exclusive text[], shared text[], priority smallint, needs jsonb,
    parent uuid, policies jsonb, lock boolean
  )
  RETURNING 'running', t;
END
$$;

-- Makes the inserts of a worker up to `number` impossible whose replies were lost, however late they are executed.
-- FOR UPDATE waits for those under way (they lock the row FOR KEY SHARE), and they wait for this. False for a worker
-- that was reaped or is gone: it inserts nothing any more.
CREATE FUNCTION holdfast.void_inserts(worker bigint, number bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM holdfast.require_read_committed();
  PERFORM FROM holdfast.workers w WHERE w.incarnation = void_inserts.worker AND NOT w.reaped FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE holdfast.workers w SET inserts_from = greatest(w.inserts_from, void_inserts.number + 1)
  WHERE w.incarnation = void_inserts.worker;
  RETURN true;
END
$$;
