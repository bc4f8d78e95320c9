SELECT holdfast.end_unclaimed_rollbacks($1::integer) AS ended
