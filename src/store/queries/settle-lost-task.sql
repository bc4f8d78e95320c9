SELECT holdfast.settle_lost_task($1::bigint, $2::uuid, $3::integer) AS settled
