SELECT t.id AS task, t.entry, t.state = 'canceling' AS canceling FROM holdfast.tasks t
WHERE t.worker = $1::bigint AND t.state IN ('running', 'canceling', 'rolling_back')
ORDER BY t.id
