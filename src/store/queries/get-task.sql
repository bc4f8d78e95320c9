SELECT * FROM holdfast.tasks WHERE id = $1::uuid
