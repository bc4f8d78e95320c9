-- Asks for an ad-hoc lock: a row that waits in a lane of its requester's own. `number` as for insert_running. Answers
-- `requested`, `reaped` or `void`.
CREATE FUNCTION holdfast.request_lock(requester bigint, number bigint, new_lock text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  first_number bigint;
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT w.inserts_from INTO first_number FROM holdfast.workers w
  WHERE w.incarnation = request_lock.requester AND NOT w.reaped
  FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN 'reaped';
  END IF;
  IF request_lock.number < first_number THEN
    RETURN 'void';
  END IF;
  INSERT INTO holdfast.tasks (id, name, queue, payload, exclusive, shared, parent, requester)
  SELECT n.id, n.name, n.queue, 'null', n.exclusive, n.shared, n.parent, request_lock.requester
  FROM jsonb_to_record(request_lock.new_lock::jsonb) AS n (
    id uuid, name text, queue text, exclusive text[], shared text[], parent uuid
  );
  RETURN 'requested';
END
$$;

-- Ends ad-hoc locks of a requester, and tasks that it inserted as running and never began: those that run are deleted,
-- and then their holds may go. A request that waits is canceled and marked, so that admission takes its hold out and
-- deletes the row, whoever lives until then. False, and nothing done, for a requester that was reaped or is gone.
CREATE FUNCTION holdfast.discard_tasks(worker bigint, ids uuid[]) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
BEGIN
  IF holdfast.hold_worker(discard_tasks.worker) IS NULL THEN
    RETURN false;
  END IF;
  SELECT array_agg(mine.version) INTO rows
  FROM (SELECT DISTINCT u.id FROM unnest(discard_tasks.ids) AS u (id) ORDER BY u.id) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = 1 AND (
      t.state = 'waiting' AND t.requester = discard_tasks.worker
      OR t.state IN ('running', 'canceling') AND t.worker = discard_tasks.worker
    )
    FOR UPDATE
  ) mine;
  DELETE FROM holdfast.tasks t USING unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.state <> 'waiting';
  UPDATE holdfast.tasks t SET state = 'canceled', finished_at = clock_timestamp(), take_out = t.entry
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.state = 'waiting';
  RETURN true;
END
$$;

-- The same for all ad-hoc locks of a requester that was reaped or has no row. Returns those that it held, whose holds
-- are to be released; NULL, and nothing done, where it may still act.
CREATE FUNCTION holdfast.settle_lost_locks(requester bigint) RETURNS uuid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  held uuid[];
BEGIN
  PERFORM holdfast.require_read_committed();
  IF EXISTS (SELECT FROM holdfast.workers w WHERE w.incarnation = settle_lost_locks.requester AND NOT w.reaped) THEN
    RETURN NULL;
  END IF;
  PERFORM FROM holdfast.tasks t WHERE t.requester = settle_lost_locks.requester ORDER BY t.id FOR UPDATE;
  WITH deleted AS (
    DELETE FROM holdfast.tasks t
    WHERE t.requester = settle_lost_locks.requester AND t.state = 'running'
    RETURNING t.id
  )
  SELECT coalesce(array_agg(d.id ORDER BY d.id), '{}') INTO held FROM deleted d;
  UPDATE holdfast.tasks t SET state = 'canceled', finished_at = clock_timestamp(), take_out = t.entry
  WHERE t.requester = settle_lost_locks.requester AND t.state = 'waiting';
  RETURN held;
END
$$;
