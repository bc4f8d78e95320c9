-- The row of the NOTIFY has no task.
SELECT i.given, (i.task).* FROM holdfast.insert_keyed_tasks($1::text::jsonb) i
UNION ALL
SELECT NULL, (NULL::holdfast.tasks).* FROM (SELECT pg_notify('holdfast', '') WHERE $2::boolean OFFSET 0) n
