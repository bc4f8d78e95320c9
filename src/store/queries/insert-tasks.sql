-- One JSON text carries all rows, so any client and ORM can send it. Places follow the order of the array. A task
-- that is there already stays as it is: inserting again after a lost reply is harmless.
WITH inserted AS (
  INSERT INTO holdfast.tasks
    (id, name, queue, payload, exclusive, shared, priority, needs, run_at, due, parent, policies)
  SELECT
    n.id, n.name, n.queue, coalesce(n.payload, 'null'), n.exclusive, n.shared, n.priority, n.needs, n."runAt",
    n."runAt" IS NULL OR n."runAt" <= now(), n.parent, n.policies
  FROM jsonb_to_recordset($1::text::jsonb) AS n (
    id uuid, name text, queue text, payload jsonb, exclusive text[], shared text[], priority smallint, needs jsonb,
    "runAt" timestamptz, parent uuid, policies jsonb
  )
  ON CONFLICT (id) DO NOTHING
)
SELECT pg_notify('holdfast', '') WHERE $2::boolean
