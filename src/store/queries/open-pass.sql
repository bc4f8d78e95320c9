-- The pass is numbered after the lock is taken: OFFSET keeps the lock from being evaluated with the number. The
-- server ends a session that has the lock and stalls, $1 in milliseconds; one that did not get it hinders nobody.
SELECT
  CASE WHEN l.locked THEN nextval('holdfast.passes') END AS pass,
  CASE WHEN l.locked THEN set_config('idle_in_transaction_session_timeout', $1, true) END AS idle_limit,
  (SELECT n.epoch FROM holdfast.namespace n) AS epoch
FROM (SELECT pg_try_advisory_xact_lock(holdfast.lock_key('admission')) AS locked OFFSET 0) l
