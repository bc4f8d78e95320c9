-- How the functions below reach their rows: first they lock and judge, one index lookup a task in order of id,
-- so that no two calls can deadlock and each guard is judged on the row as it is after any wait; then they write,
-- by a new statement, to the very row versions that were locked. Their settings keep the plans to that: a plan that a
-- session made while the table was small must not be kept, and without statistics the planner takes a scan of the
-- table, or of an index that looks empty, for the cheaper way. Where a task may be in one of several states, CASE tells
-- them apart: the planner would take alternatives as invitations to read the partial indexes on each.

-- The name of a worker that may still act, which is kept from being reaped until the transaction ends.
CREATE FUNCTION holdfast.hold_worker(worker bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  held text;
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT w.name INTO held FROM holdfast.workers w
  WHERE w.incarnation = hold_worker.worker AND NOT w.reaped
  FOR KEY SHARE;
  RETURN held;
END
$$;

-- The second half of a claim: README.md, "A claim". One row `reaped` or `epoch`; else a row a claim: `claimed` with
-- the task as it now runs, or rolls back, `runs-here` or `refused`.
CREATE FUNCTION holdfast.claim_tasks(worker bigint, epoch bigint, ids uuid[], entries integer[], fences text[])
RETURNS TABLE (outcome text, claim_id uuid, claim_entry integer, task holdfast.tasks)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  committed_epoch bigint;
  claimer text;
  paused text[];
  rows tid[];
  claimed bigint[];
  row_fences text[];
BEGIN
  PERFORM holdfast.require_read_committed();
  PERFORM pg_advisory_xact_lock_shared(holdfast.lock_key('epoch'));
  -- A statement of its own: its snapshot is taken after the lock, so it sees what a rebuild committed meanwhile.
  SELECT n.epoch INTO committed_epoch FROM holdfast.namespace n WHERE holdfast.on_timeline(n.timeline);
  IF committed_epoch IS DISTINCT FROM claim_tasks.epoch THEN
    outcome := 'epoch';
    RETURN NEXT;
    RETURN;
  END IF;
  claimer := holdfast.hold_worker(claim_tasks.worker);
  IF claimer IS NULL THEN
    outcome := 'reaped';
    RETURN NEXT;
    RETURN;
  END IF;

  -- A hold may be claimed here that was granted before its queue was paused.
  paused := ARRAY(SELECT p.queue FROM holdfast.paused_queues p);
  SELECT array_agg(free.version), array_agg(c.ordinal), array_agg(c.fence) INTO rows, claimed, row_fences
  FROM (
    SELECT * FROM unnest(claim_tasks.ids, claim_tasks.entries, claim_tasks.fences) WITH ORDINALITY
      AS u (id, entry, fence, ordinal)
    ORDER BY u.id
  ) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry
      AND CASE t.state WHEN 'waiting' THEN t.due AND t.queue <> ALL (paused) WHEN 'rolling_back' THEN t.worker IS NULL ELSE false END
      AND (t.requester IS NULL OR t.requester = claim_tasks.worker)
    FOR NO KEY UPDATE
  ) free;

  RETURN QUERY
  UPDATE holdfast.tasks t
  SET state = CASE t.state WHEN 'waiting' THEN 'running' ELSE t.state END,
    attempt = t.attempt + CASE t.state WHEN 'waiting' THEN 1 ELSE 0 END,
    started_at = CASE t.state WHEN 'waiting' THEN clock_timestamp() ELSE t.started_at END,
    rollback_started_at = CASE t.state WHEN 'rolling_back' THEN clock_timestamp() END,
    progress = CASE t.state WHEN 'waiting' THEN '[]' ELSE t.progress END,
    fence = c.fence, worker = claim_tasks.worker, worker_name = claimer
  FROM unnest(rows, row_fences) AS c (version, fence)
  WHERE t.ctid = c.version
  RETURNING 'claimed', t.id, t.entry, t;

  IF cardinality(claimed) IS NOT DISTINCT FROM cardinality(claim_tasks.ids) THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT CASE WHEN here.runs THEN 'runs-here' ELSE 'refused' END, c.id, c.entry, NULL::holdfast.tasks
  FROM unnest(claim_tasks.ids, claim_tasks.entries) WITH ORDINALITY AS c (id, entry, ordinal)
  LEFT JOIN LATERAL (
    SELECT true AS runs FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry AND t.worker = claim_tasks.worker
      AND t.state IN ('running', 'canceling', 'rolling_back')
    LIMIT 1
  ) here ON true
  WHERE c.ordinal NOT IN (SELECT unnest(claimed));
END
$$;
