-- What becomes of the holds of a worker that was reaped or has no row, once its tasks are settled: for each, the entry
-- under which it goes on, 0 where it is over, -1 where its task is not settled yet, -2 where the task went on with a
-- later entry, so that only the hold itself can tell whether it is the one that went on. A task that waits with the very
-- entry was claimed in the lock table only, and is given back at its place. Nothing is returned while the worker lives.
-- A row that somebody else has locked is not settled yet: who keeps one locked must not keep the others back (G5).
CREATE FUNCTION holdfast.settle_lost_holds(worker bigint, ids uuid[], entries integer[])
RETURNS TABLE (ordinal integer, next_entry integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  paused_queues text[];
  lost record;
BEGIN
  PERFORM holdfast.require_read_committed();
  IF EXISTS (SELECT FROM holdfast.workers w WHERE w.incarnation = settle_lost_holds.worker AND NOT w.reaped) THEN
    RETURN;
  END IF;
  paused_queues := holdfast.hold_pauses();
  FOR lost IN
    SELECT u.ordinal::integer AS ordinal, u.id, u.entry AS held, t.version, t.state, t.entry, t.worker, t.queue
    FROM (
      SELECT * FROM unnest(settle_lost_holds.ids, settle_lost_holds.entries) WITH ORDINALITY AS u (id, entry, ordinal)
      ORDER BY u.id
    ) u
    LEFT JOIN LATERAL (
      SELECT t.ctid AS version, t.state, t.entry, t.worker, t.queue FROM holdfast.tasks t
      WHERE t.id = u.id AND t.entry >= u.entry AND t.requester IS NULL
        AND t.state IN ('waiting', 'running', 'canceling', 'rolling_back')
      FOR NO KEY UPDATE SKIP LOCKED
    ) t ON true
  LOOP
    ordinal := lost.ordinal;
    next_entry := CASE
      WHEN lost.version IS NULL THEN -EXISTS (
        SELECT FROM holdfast.tasks t
        WHERE t.id = lost.id AND t.entry >= lost.held AND t.requester IS NULL
          AND t.state IN ('waiting', 'running', 'canceling', 'rolling_back')
      )::integer
      WHEN lost.entry = lost.held AND lost.worker IS NOT NULL THEN -1
      WHEN lost.state = 'waiting' AND lost.queue = ANY (paused_queues) THEN 0
      WHEN lost.entry = lost.held THEN lost.entry + 1
      WHEN lost.worker IS NULL THEN -2
      ELSE 0
    END;
    IF lost.entry = lost.held AND lost.worker IS NULL THEN
      IF lost.state = 'rolling_back' THEN
        PERFORM holdfast.give_back_rollback(lost.version, 'rollback-given-back');
      ELSE
        UPDATE holdfast.tasks t SET entry = t.entry + 1, admitted_epoch = -1 WHERE t.ctid = lost.version;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
