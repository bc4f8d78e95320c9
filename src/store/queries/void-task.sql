-- Where an insert with the same id is under way, this waits for its end.
WITH inserted AS (
  INSERT INTO holdfast.tasks (id, name, queue, payload, state, finished_at)
  VALUES ($1::uuid, $2, $3, 'null', 'canceled', clock_timestamp())
  ON CONFLICT (id) DO NOTHING
  RETURNING state
)
SELECT state IN ('completed', 'failed', 'canceled') AS final FROM inserted
UNION ALL
SELECT t.state IN ('completed', 'failed', 'canceled') FROM holdfast.tasks t WHERE t.id = $1::uuid
