SELECT holdfast.reap_worker($1::bigint, $2::bigint) AS outcome
