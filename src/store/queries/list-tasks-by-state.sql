-- The page of each state by itself, then the newest of all: one range of the index a state. Were the state compared by =, the
-- order of the primary key would do as well, and that reads all that has another state.
SELECT page.* FROM unnest($3::text[]) AS s (state)
CROSS JOIN LATERAL (
  SELECT t.* FROM holdfast.listed_tasks t
  WHERE t.state BETWEEN s.state AND s.state
    AND (t.state, t.id) < (s.state, coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  ORDER BY t.state DESC, t.id DESC
  LIMIT $2::integer
) page
ORDER BY page.id DESC
LIMIT $2::integer
