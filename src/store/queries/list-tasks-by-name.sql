-- As by state, in the index of names.
SELECT page.* FROM unnest($3::text[]) AS s (state)
CROSS JOIN LATERAL (
  SELECT t.* FROM holdfast.listed_tasks t
  WHERE t.name = $4 AND t.state BETWEEN s.state AND s.state
    AND (t.state, t.id) < (s.state, coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  ORDER BY t.state DESC, t.id DESC
  LIMIT $2::integer
) page
ORDER BY page.id DESC
LIMIT $2::integer
