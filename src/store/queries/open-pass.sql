-- The pass is numbered after the lock is taken: OFFSET keeps the lock from being evaluated with the number.
SELECT
  CASE WHEN l.locked THEN nextval('holdfast.passes') END AS pass,
  (SELECT n.epoch FROM holdfast.namespace n) AS epoch
FROM (SELECT pg_try_advisory_xact_lock(holdfast.lock_key('admission')) AS locked OFFSET 0) l
