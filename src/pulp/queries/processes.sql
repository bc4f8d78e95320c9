-- The rows of one name, or all. How long a process has been silent is told by the database's clock.
SELECT pulp_id::text AS id, name, app_type AS kind, last_heartbeat AS "lastHeartbeat",
       extract(epoch FROM ttl)::float8 * 1000 AS "ttlMs",
       extract(epoch FROM clock_timestamp() - last_heartbeat)::float8 * 1000 AS "silentMs"
FROM core_appstatus
WHERE $1::text IS NULL OR name = $1
ORDER BY last_heartbeat DESC, pulp_id;
