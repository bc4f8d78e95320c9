-- The running-like tasks are few; reading them first keeps the planner from walking the ids of all that finished.
WITH running AS MATERIALIZED (
  SELECT t.id FROM holdfast.tasks t WHERE t.state IN ('running', 'canceling', 'rolling_back')
), page AS (
  SELECT r.id FROM running r WHERE $1::uuid IS NULL OR r.id > $1 ORDER BY r.id LIMIT $2::integer
)
SELECT t.id, t.entry, t.lane, t.priority, t.place, t.exclusive, t.shared, t.worker, t.worker_name, t.fence
FROM page p JOIN holdfast.tasks t ON t.id = p.id
ORDER BY t.id
