UPDATE holdfast.workers SET stopped_itself = true
WHERE incarnation = $1::bigint AND NOT reaped
