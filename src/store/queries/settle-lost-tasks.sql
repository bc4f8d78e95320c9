SELECT s.next_entry AS "nextEntry"
FROM holdfast.settle_lost_tasks($1::bigint, $2::uuid[], $3::integer[]) s
ORDER BY s.ordinal
