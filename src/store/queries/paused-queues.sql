SELECT p.queue, p.paused_at AS "pausedAt" FROM holdfast.paused_queues p
WHERE p.queue > coalesce($1::text, '')
ORDER BY p.queue
LIMIT $2::integer
