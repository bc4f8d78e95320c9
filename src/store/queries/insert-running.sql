SELECT i.outcome AS answer, (i.task).*
FROM holdfast.insert_running($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text) i
