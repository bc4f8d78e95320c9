SELECT w.incarnation, w.pid, w.identity, w.counter, w.reaped FROM holdfast.workers w
WHERE w.name = $1::text
ORDER BY w.incarnation
