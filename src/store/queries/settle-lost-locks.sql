SELECT holdfast.settle_lost_locks($1::bigint) AS held
