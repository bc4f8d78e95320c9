-- Has a task run again that failed or was canceled: with the next entry, at a new place, its attempts and crashes counted
-- anew. Returns the states before and after, which are one where nothing was done: in any other state,
-- for an ad-hoc lock, or where another unfinished task has its unique key; nothing for an unknown id. In the caller's
-- transaction. A mark of take_out stays: admission enters the new entry once the hold of the old one is gone.
CREATE FUNCTION holdfast.retry(id uuid) RETURNS TABLE (before text, after text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  lock_of bigint;
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT t.state, t.requester INTO before, lock_of FROM holdfast.tasks t WHERE t.id = retry.id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF before NOT IN ('failed', 'canceled') OR lock_of IS NOT NULL THEN
    after := before;
    RETURN NEXT;
    RETURN;
  END IF;
  BEGIN
    UPDATE holdfast.tasks t
    SET state = 'waiting', entry = t.entry + 1, place = nextval('holdfast.places'), admitted_epoch = 0,
      attempt = 0, crashes = 0, readmitted = false, finished_at = NULL, error = NULL, rollback_error = NULL,
      worker = NULL, worker_name = NULL, fence = NULL, started_at = NULL,
      due = t.run_at IS NULL OR t.run_at <= now()
    WHERE t.id = retry.id;
    after := 'waiting';
  EXCEPTION WHEN unique_violation THEN
    after := before;
  END;
  RETURN NEXT;
END
$$;

-- Retries the first tasks after an id, in order of id, that were in this state at `until`, and of this name unless it is
-- NULL. Returns the last id looked at, NULL at the end, and how many were and were not retried. What has failed again
-- meanwhile is left alone.
CREATE FUNCTION holdfast.retry_page(
  state text, name text, until timestamptz, after uuid, row_limit integer
) RETURNS TABLE (last uuid, retried bigint, refused bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  ids uuid[];
BEGIN
  -- Were the state compared by =, the order of the primary key would do as well, and that reads all that has another state.
  IF retry_page.name IS NULL THEN
    ids := ARRAY(
      SELECT t.id FROM holdfast.tasks t
      WHERE t.state BETWEEN retry_page.state AND retry_page.state
        AND (t.state, t.id) > (retry_page.state, retry_page.after) AND t.finished_at <= retry_page.until
      ORDER BY t.state, t.id LIMIT retry_page.row_limit
    );
  ELSE
    ids := ARRAY(
      SELECT t.id FROM holdfast.tasks t
      WHERE t.name = retry_page.name AND t.state BETWEEN retry_page.state AND retry_page.state
        AND (t.state, t.id) > (retry_page.state, retry_page.after) AND t.finished_at <= retry_page.until
      ORDER BY t.state, t.id LIMIT retry_page.row_limit
    );
  END IF;
  SELECT count(*) FILTER (WHERE r.after = 'waiting' AND r.before <> r.after),
    count(*) FILTER (WHERE r.after IS NOT DISTINCT FROM r.before)
  INTO retried, refused
  FROM unnest(ids) AS c (id) CROSS JOIN LATERAL holdfast.retry(c.id) r;
  last := CASE WHEN cardinality(ids) = retry_page.row_limit THEN ids[cardinality(ids)] END;
  RETURN NEXT;
END
$$;
