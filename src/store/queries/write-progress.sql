SELECT holdfast.write_progress($1::bigint, $2::uuid[], $3::integer[], $4::text[])
