-- The page of each state by itself, then the newest of all: one range of the index a state.
SELECT page.* FROM unnest($3::text[]) AS s (state)
CROSS JOIN LATERAL (
  SELECT t.* FROM holdfast.listed_tasks t
  WHERE t.state = s.state AND t.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  ORDER BY t.id DESC
  LIMIT $2::integer
) page
ORDER BY page.id DESC
LIMIT $2::integer
