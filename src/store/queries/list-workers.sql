SELECT
  w.incarnation, w.name, w.kind, w.host, w.pid, w.identity, w.ttl_ms AS "ttlMs", w.concurrency, w.queues, w.names,
  w.versions, w.counter, w.reaped, w.started_at AS "startedAt", w.last_heartbeat AS "lastHeartbeat",
  NOT w.reaped AND w.last_heartbeat > clock_timestamp() - w.ttl_ms * interval '1 millisecond' AS online,
  ARRAY(
    SELECT t.id FROM holdfast.tasks t
    WHERE t.worker = w.incarnation AND t.state IN ('running', 'canceling', 'rolling_back')
    ORDER BY t.id
  ) AS running
FROM holdfast.workers w
WHERE w.incarnation > coalesce($1::bigint, 0)
ORDER BY w.incarnation
LIMIT $2::integer
