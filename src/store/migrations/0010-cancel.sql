-- Asks for a task to end without doing its work: one that waits is canceled at once; one that runs is canceled when
-- its worker has stopped it; one that rolls back for a retry is canceled after that. Returns the states before and
-- after, which are one for a task that is in a final state or is being canceled already, and for an ad-hoc lock, which
-- is its requester's; nothing for an unknown id. In the caller's transaction.
CREATE FUNCTION holdfast.cancel(id uuid) RETURNS TABLE (before text, after text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  lock_of bigint;
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT t.state, t.requester INTO before, lock_of FROM holdfast.tasks t WHERE t.id = cancel.id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  after := CASE before WHEN 'waiting' THEN 'canceled' WHEN 'running' THEN 'canceling' ELSE before END;
  IF lock_of IS NOT NULL THEN
    after := before;
  ELSIF before = 'waiting' THEN
    UPDATE holdfast.tasks t SET state = after, finished_at = clock_timestamp(), error = NULL, rollback_error = NULL,
      take_out = t.entry
    WHERE t.id = cancel.id;
  ELSIF before = 'running' THEN
    UPDATE holdfast.tasks t SET state = after WHERE t.id = cancel.id;
  ELSIF before = 'rolling_back' THEN
    UPDATE holdfast.tasks t SET outcome = 'canceled', outcome_delay_ms = NULL, error = NULL
    WHERE t.id = cancel.id AND t.outcome IN ('retry', 'given-back');
  END IF;
  RETURN NEXT;
END
$$;

-- Takes the marks of take_out away, once the holds are gone. Of an ad-hoc lock that was given up nothing stays. Stale is
-- one in whose place the table has a later hold. Where the task waits and nobody is known to have admitted it, that hold was
-- moved on, for a dead worker, while the mark was made: it is marked in its turn where its queue is paused, and else
-- the task counts as given back. No queue is paused meanwhile: that takes the lock of admission.
CREATE FUNCTION holdfast.clear_take_outs(ids uuid[], entries integer[], stale boolean[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
  stale_rows boolean[];
BEGIN
  SELECT array_agg(marked.version), array_agg(c.stale) INTO rows, stale_rows
  FROM unnest(clear_take_outs.ids, clear_take_outs.entries, clear_take_outs.stale) AS c (id, entry, stale)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t WHERE t.id = c.id AND t.take_out = c.entry FOR NO KEY UPDATE SKIP LOCKED
  ) marked;
  DELETE FROM holdfast.tasks t USING unnest(rows) AS c (version)
  WHERE t.ctid = c.version AND t.requester IS NOT NULL;
  -- These rows have new versions then, so that the next statement leaves them alone.
  UPDATE holdfast.tasks t SET entry = t.entry + 1, take_out = t.entry
  FROM unnest(rows, stale_rows) AS c (version, stale)
  WHERE t.ctid = c.version AND c.stale AND t.state = 'waiting' AND t.admitted_epoch = 0
    AND t.queue IN (SELECT p.queue FROM holdfast.paused_queues p);
  UPDATE holdfast.tasks t
  SET take_out = NULL,
    admitted_epoch = CASE WHEN c.stale AND t.state = 'waiting' AND t.admitted_epoch = 0 THEN -1 ELSE t.admitted_epoch END
  FROM unnest(rows, stale_rows) AS c (version, stale)
  WHERE t.ctid = c.version AND t.requester IS NULL;
END
$$;
