SELECT holdfast.remove_worker($1::bigint) AS outcome
