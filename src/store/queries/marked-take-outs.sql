SELECT t.id AS task, t.take_out AS entry FROM holdfast.tasks t WHERE t.take_out IS NOT NULL ORDER BY t.place LIMIT $1::integer
