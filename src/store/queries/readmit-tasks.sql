UPDATE holdfast.tasks t SET admitted_epoch = 0
FROM unnest($2::uuid[], $3::integer[]) AS u (id, entry)
WHERE t.id = u.id AND t.entry = u.entry AND t.state = 'waiting' AND t.admitted_epoch = $1::bigint
RETURNING t.id
