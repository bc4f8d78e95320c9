SELECT holdfast.request_lock($1::bigint, $2::bigint, $3::text) AS outcome
