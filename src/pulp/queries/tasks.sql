-- The tasks with these ids, and those that are not over and were taken by these processes.
SELECT pulp_id::text AS id, state, app_lock_id::text AS process,
       coalesce(reserved_resources_record, '{}') AS resources
FROM core_task
WHERE pulp_id = ANY($1) OR (app_lock_id = ANY($2) AND state IN ('waiting', 'running', 'canceling'));
