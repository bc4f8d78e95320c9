-- One row a task or lock. A handler's own requests that wait are found among the ad-hoc locks, which are few.
SELECT
  t.id, t.entry, t.state, t.exclusive, t.shared, t.parent, t.requester IS NOT NULL AS lock,
  ARRAY(
    SELECT l.id FROM holdfast.tasks l
    WHERE l.requester IS NOT NULL AND l.state = 'waiting' AND l.parent = t.id
    ORDER BY l.id
  ) AS requests
FROM holdfast.tasks t
WHERE t.id = ANY ($1::uuid[])
ORDER BY t.id
