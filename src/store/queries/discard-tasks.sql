SELECT holdfast.discard_tasks($1::bigint, $2::uuid[]) AS done
