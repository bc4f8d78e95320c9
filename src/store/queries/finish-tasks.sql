SELECT f.finished AS task, f.finished_entry AS entry, f.finished_state AS state
FROM holdfast.finish_tasks(
  $1::bigint, $2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[],
  $9::boolean[]
) f
