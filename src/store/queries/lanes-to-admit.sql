-- The same loose index scan as in admission-needed.sql, and the last place that is seen in any of these lanes.
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
SELECT p.lane, max(max(last.place)) OVER () AS "lastPlace" FROM pairs p
CROSS JOIN LATERAL (
  SELECT t.place FROM holdfast.tasks t
  WHERE t.state = 'waiting' AND t.due AND t.lane = p.lane AND t.admitted_epoch = p.admitted_epoch
  ORDER BY t.place DESC
  LIMIT 1
) last
WHERE p.admitted_epoch <> $1::bigint
  AND NOT EXISTS (SELECT FROM holdfast.paused_queues q WHERE q.queue = p.lane::jsonb ->> 0)
GROUP BY p.lane
ORDER BY p.lane
