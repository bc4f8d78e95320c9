UPDATE holdfast.workers SET counter = counter + 1, last_heartbeat = now()
WHERE incarnation = $1::bigint AND NOT reaped
RETURNING incarnation
