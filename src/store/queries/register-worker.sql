WITH longest AS (
  UPDATE holdfast.namespace n SET longest_ttl_ms = $6::integer WHERE n.longest_ttl_ms < $6::integer
)
INSERT INTO holdfast.workers
  (name, kind, host, pid, identity, ttl_ms, concurrency, queues, names, versions, table_format)
VALUES
  ($1, $2, $3, $4::integer, $5::text::jsonb, $6::integer, $7::integer, $8::text[], $9::text[], $10::text::jsonb,
   $11::integer)
RETURNING incarnation
