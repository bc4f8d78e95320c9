-- A loose index scan: from each (lane, epoch) straight to the next one. The literals are those of the partial
-- indexes.
WITH RECURSIVE pairs AS (
  (
    SELECT t.lane, t.admitted_epoch FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND t.due
    ORDER BY t.lane, t.admitted_epoch
    LIMIT 1
  )
  UNION ALL
  SELECT following.lane, following.admitted_epoch FROM pairs p
  CROSS JOIN LATERAL (
    SELECT t.lane, t.admitted_epoch FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND t.due AND (t.lane, t.admitted_epoch) > (p.lane, p.admitted_epoch)
    ORDER BY t.lane, t.admitted_epoch
    LIMIT 1
  ) following
),
need AS (
  SELECT
    ARRAY(
      SELECT DISTINCT p.lane FROM pairs p
      WHERE p.admitted_epoch <> $1::bigint
        AND NOT EXISTS (SELECT FROM holdfast.paused_queues q WHERE q.queue = p.lane::jsonb ->> 0)
      ORDER BY p.lane
    ) AS lanes,
    ARRAY(SELECT DISTINCT p.lane FROM pairs p WHERE p.admitted_epoch IN ($1::bigint, -1) ORDER BY p.lane) AS admitted,
    EXISTS (
      SELECT FROM (
        SELECT t.run_at FROM holdfast.tasks t WHERE t.state = 'waiting' AND NOT t.due ORDER BY t.run_at LIMIT 1
      ) earliest
      WHERE earliest.run_at <= now()
    ) AS due,
    EXISTS (SELECT FROM holdfast.paused_queues q WHERE q.phase <> 'paused')
      OR EXISTS (SELECT FROM (SELECT t.place FROM holdfast.tasks t WHERE t.take_out IS NOT NULL ORDER BY t.place LIMIT 1) first) AS "takeOuts",
    EXISTS (
      SELECT FROM (
        SELECT t.rollback_until FROM holdfast.tasks t WHERE t.state = 'rolling_back' AND t.worker IS NULL
        ORDER BY t.rollback_until LIMIT 1
      ) earliest
      WHERE earliest.rollback_until <= now()
    ) AS "rollbacksOver"
)
-- The lock is tried last, and let go at once: a fleet that asks must not keep the one from it that admits.
SELECT
  n.lanes,
  n.admitted,
  n.due,
  n."takeOuts",
  n."rollbacksOver",
  CASE WHEN n.due OR n."takeOuts" OR n."rollbacksOver" OR n.lanes <> '{}' THEN pg_try_advisory_xact_lock(holdfast.lock_key('admission')) END AS free
FROM need n OFFSET 0
