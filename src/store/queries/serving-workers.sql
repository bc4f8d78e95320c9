SELECT DISTINCT w.queues, w.names, w.versions FROM holdfast.workers w WHERE NOT w.reaped AND w.kind = 'worker'
