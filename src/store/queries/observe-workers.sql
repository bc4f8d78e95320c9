SELECT w.incarnation, w.name, w.counter, w.ttl_ms AS "ttlMs", w.reaped FROM holdfast.workers w
ORDER BY w.incarnation
