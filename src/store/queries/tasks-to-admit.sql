-- Up to the place $5, where there is one. The epochs that each lane has waiting tasks of, by skipping from one to the next; then the first tasks of each
-- pair in order of place, and of these the first. What is admitted in $1 is one step a lane.
WITH RECURSIVE pairs AS (
  SELECT l.lane, first.admitted_epoch FROM (SELECT DISTINCT u.lane FROM unnest($2::text[]) AS u (lane)) l
  CROSS JOIN LATERAL (
    SELECT t.admitted_epoch FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND t.due AND t.lane = l.lane
    ORDER BY t.admitted_epoch
    LIMIT 1
  ) first
  UNION ALL
  SELECT p.lane, following.admitted_epoch FROM pairs p
  CROSS JOIN LATERAL (
    SELECT t.admitted_epoch FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND t.due AND t.lane = p.lane AND t.admitted_epoch > p.admitted_epoch
    ORDER BY t.admitted_epoch
    LIMIT 1
  ) following
)
SELECT page.* FROM pairs p
CROSS JOIN LATERAL (
  SELECT t.id, t.entry, t.lane, t.priority, t.place, t.exclusive, t.shared FROM holdfast.tasks t
  WHERE t.state = 'waiting' AND t.due AND t.lane = p.lane AND t.admitted_epoch = p.admitted_epoch
    AND t.place > $3::bigint AND t.place <= coalesce($5::bigint, 9223372036854775807)
  ORDER BY t.place
  LIMIT $4::integer
) page
WHERE p.admitted_epoch <> $1::bigint
ORDER BY page.place
LIMIT $4::integer
