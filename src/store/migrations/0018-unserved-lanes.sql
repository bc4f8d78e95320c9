-- Of tasks that wait in these lanes, and are admitted in that epoch or were given back, raises the entries and marks the
-- holds to be taken out: they come in again, at their places, when somebody serves the lane. Returns how many. One whose
-- row somebody is changing, claiming it most likely, is left alone.
CREATE FUNCTION holdfast.take_out_unserved(lanes text[], epoch bigint, row_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  rows tid[];
BEGIN
  PERFORM holdfast.require_read_committed();
  SELECT array_agg(waiting.version) INTO rows FROM unnest(take_out_unserved.lanes) AS l (lane)
  CROSS JOIN (VALUES (take_out_unserved.epoch), (-1)) AS e (epoch)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND t.due AND t.lane = l.lane AND t.admitted_epoch = e.epoch
    ORDER BY t.place LIMIT row_limit FOR NO KEY UPDATE SKIP LOCKED
  ) waiting;
  UPDATE holdfast.tasks t SET entry = t.entry + 1, admitted_epoch = 0, take_out = t.entry
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version;
  RETURN coalesce(cardinality(rows), 0);
END
$$;
