-- Read from the catalog: to_regclass may answer from a cache that is older than the wait for the lock.
SELECT EXISTS (
  SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'holdfast' AND c.relname = 'migrations'
) AS exists
