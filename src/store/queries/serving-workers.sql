-- An api serves the lane of its own ad-hoc locks, a worker any lane that its offer meets.
SELECT DISTINCT w.queues, w.names, w.versions, CASE WHEN w.kind = 'api' THEN w.incarnation END AS requester
FROM holdfast.workers w
WHERE NOT w.reaped
