UPDATE holdfast.workers
SET counter = counter + 1, last_heartbeat = now(), server_start = pg_postmaster_start_time()
WHERE incarnation = $1::bigint AND NOT reaped AND holdfast.on_timeline(timeline)
RETURNING incarnation
