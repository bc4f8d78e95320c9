SELECT holdfast.readmit_task($1::bigint, $2::uuid, $3::integer, $4::text[], $5::text[]) AS "nextEntry"
