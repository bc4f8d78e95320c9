SELECT t.id AS task, t.entry FROM holdfast.tasks t WHERE t.take_out ORDER BY t.place LIMIT $1::integer
