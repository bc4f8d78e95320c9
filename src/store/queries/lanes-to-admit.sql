-- The same loose index scan as in admission-needed.sql.
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
)
SELECT DISTINCT p.lane FROM pairs p
WHERE p.admitted_epoch <> $1::bigint
  AND NOT EXISTS (SELECT FROM holdfast.paused_queues q WHERE q.queue = p.lane::jsonb ->> 0)
ORDER BY p.lane
