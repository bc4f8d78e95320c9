SELECT t.* FROM holdfast.listed_tasks t
WHERE t.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
ORDER BY t.id DESC
LIMIT $2::integer
