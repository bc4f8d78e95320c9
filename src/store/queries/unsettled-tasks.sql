-- The page of each state by itself, then the first of all: one range of the index a state.
SELECT page.* FROM unnest(ARRAY['waiting', 'running', 'canceling', 'rolling_back']) AS s (state)
CROSS JOIN LATERAL (
  SELECT t.id, t.state, t.entry, t.worker, t.due, t.admitted_epoch, t.take_out, t.exclusive, t.shared
  FROM holdfast.tasks t
  WHERE t.state = s.state AND t.id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
  ORDER BY t.id
  LIMIT $2::integer
) page
ORDER BY page.id
LIMIT $2::integer
