INSERT INTO holdfast.workers
  (name, kind, host, pid, identity, ttl_ms, concurrency, queues, names, versions)
VALUES
  ($1, $2, $3, $4::integer, $5::text::jsonb, $6::integer, $7::integer, $8::text[], $9::text[], $10::text::jsonb)
RETURNING incarnation
