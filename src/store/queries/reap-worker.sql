SELECT holdfast.reap_worker($1::bigint) AS outcome
