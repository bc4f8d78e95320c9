SELECT t.id AS task, t.entry FROM holdfast.tasks t WHERE t.id = ANY ($1::uuid[]) AND t.state = 'rolling_back'
