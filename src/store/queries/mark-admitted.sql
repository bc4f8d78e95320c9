SELECT m.refused AS task, m.refused_entry AS entry, m.stays AS runs
FROM holdfast.mark_admitted($1::bigint, $2::uuid[], $3::integer[]) m
