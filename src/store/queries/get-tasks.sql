SELECT * FROM holdfast.tasks WHERE id = ANY ($1::uuid[])
