-- The page of each state by itself, then the first of all: one range of the index a state. Were the state compared by =, the
-- order of the primary key would do as well, and that reads all that has settled.
SELECT page.* FROM unnest(ARRAY['waiting', 'running', 'canceling', 'rolling_back']) AS s (state)
CROSS JOIN LATERAL (
  SELECT t.id, t.state, t.entry, t.worker, t.due, t.admitted_epoch, t.take_out, t.exclusive, t.shared
  FROM holdfast.tasks t
  WHERE t.state BETWEEN s.state AND s.state
    AND (t.state, t.id) > (s.state, coalesce($1::uuid, '00000000-0000-0000-0000-000000000000'))
  ORDER BY t.state, t.id
  LIMIT $2::integer
) page
ORDER BY page.id
LIMIT $2::integer
