SELECT DISTINCT r.resource COLLATE "C" AS resource
FROM holdfast.tasks t
CROSS JOIN LATERAL unnest(t.exclusive || t.shared) AS r (resource)
WHERE t.state IN ('waiting', 'running', 'canceling', 'rolling_back')
  AND ($1::text IS NULL OR r.resource COLLATE "C" > $1)
ORDER BY 1
LIMIT $2::integer
