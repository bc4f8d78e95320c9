SELECT t.id AS task, t.entry FROM holdfast.tasks t
WHERE t.worker = $1::bigint AND t.state IN ('running', 'canceling', 'rolling_back')
ORDER BY t.id
