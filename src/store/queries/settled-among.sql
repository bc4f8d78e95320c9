SELECT t.id FROM holdfast.tasks t
WHERE t.id = ANY ($1::uuid[]) AND t.state IN ('completed', 'failed', 'canceled')
