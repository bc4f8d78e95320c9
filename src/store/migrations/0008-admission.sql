-- Marks tasks as admitted where they still wait with that very entry. Returns the others: `stays` is true where
-- the hold must stay, because the task runs with that entry or somebody is changing the row right now. A pass
-- never waits for a row: a claim may hold it and wait for one that this very pass has marked. What such a
-- change leaves unmarked, the next pass finds again.
CREATE FUNCTION holdfast.mark_admitted(epoch bigint, ids uuid[], entries integer[])
RETURNS TABLE (refused uuid, refused_entry integer, stays boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
  marked bigint[];
BEGIN
  SELECT array_agg(free.version), array_agg(c.ordinal) INTO rows, marked
  FROM unnest(mark_admitted.ids, mark_admitted.entries) WITH ORDINALITY AS c (id, entry, ordinal)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry AND t.state = 'waiting'
    FOR NO KEY UPDATE SKIP LOCKED
  ) free;

  UPDATE holdfast.tasks t SET admitted_epoch = mark_admitted.epoch
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version;

  IF cardinality(marked) IS NOT DISTINCT FROM cardinality(mark_admitted.ids) THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT c.id, c.entry, coalesce(now_there.entered, false)
  FROM unnest(mark_admitted.ids, mark_admitted.entries) WITH ORDINALITY AS c (id, entry, ordinal)
  LEFT JOIN LATERAL (
    SELECT true AS entered FROM holdfast.tasks t
    WHERE t.id = c.id AND t.entry = c.entry
      AND t.state IN ('waiting', 'running', 'canceling', 'rolling_back')
    LIMIT 1
  ) now_there ON true
  WHERE c.ordinal NOT IN (SELECT unnest(marked));
END
$$;

-- Makes scheduled tasks due whose time has come, the earliest first; returns how many.
CREATE FUNCTION holdfast.make_due(row_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
  made bigint;
BEGIN
  SELECT array_agg(scheduled.version) INTO rows
  FROM (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND NOT t.due AND t.run_at <= now()
    ORDER BY t.run_at
    LIMIT make_due.row_limit
    FOR NO KEY UPDATE SKIP LOCKED
  ) scheduled;
  UPDATE holdfast.tasks t SET due = true FROM unnest(rows) AS c (version) WHERE t.ctid = c.version;
  GET DIAGNOSTICS made = ROW_COUNT;
  RETURN made;
END
$$;
