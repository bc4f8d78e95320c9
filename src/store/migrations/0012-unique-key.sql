-- One unfinished task a key, whoever inserts at the same time.
CREATE UNIQUE INDEX tasks_unfinished_key ON holdfast.tasks (unique_key)
  WHERE unique_key IS NOT NULL AND state NOT IN ('completed', 'failed', 'canceled');

-- The unfinished task that has the key. With `replaces` one that waits is canceled, so that the key is free: NULL then,
-- as where nobody has it. Nothing else is locked: a task that runs must be able to end, however long the caller's
-- transaction takes.
CREATE FUNCTION holdfast.keeper_of_key(key text, replaces boolean) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  keeper uuid;
  keeper_state text;
BEGIN
  LOOP
    SELECT t.id, t.state INTO keeper, keeper_state FROM holdfast.tasks t
    WHERE t.unique_key = keeper_of_key.key AND t.state NOT IN ('completed', 'failed', 'canceled');
    IF NOT replaces OR keeper IS NULL OR keeper_state <> 'waiting' THEN
      RETURN keeper;
    END IF;
    UPDATE holdfast.tasks t
    SET state = 'canceled', finished_at = clock_timestamp(), error = NULL, rollback_error = NULL,
      take_out = t.entry
    WHERE t.id = keeper AND t.state = 'waiting';
    IF FOUND THEN
      RETURN NULL;
    END IF;
    -- It was claimed or canceled meanwhile.
  END LOOP;
END
$$;

-- Inserts one task, unless its id is there already or its key is kept. Returns its id, or that of the task that keeps
-- the key. What is NULL in the row gets its default.
CREATE FUNCTION holdfast.insert_task(task holdfast.tasks, replaces boolean) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  there uuid;
BEGIN
  LOOP
    IF EXISTS (SELECT FROM holdfast.tasks t WHERE t.id = task.id) THEN
      RETURN task.id;
    END IF;
    IF task.unique_key IS NOT NULL THEN
      there := holdfast.keeper_of_key(task.unique_key, replaces);
      IF there IS NOT NULL THEN
        RETURN there;
      END IF;
    END IF;
    -- Another transaction may be inserting the same key: this waits for its end, and then looks again.
    INSERT INTO holdfast.tasks
      (id, place, name, queue, needs, payload, exclusive, shared, priority, run_at, due, parent, policies, unique_key)
    VALUES
      (coalesce(task.id, holdfast.new_task_id()), coalesce(task.place, nextval('holdfast.places')), task.name,
       task.queue, task.needs, coalesce(task.payload, 'null'), task.exclusive, task.shared, task.priority, task.run_at,
       task.run_at IS NULL OR task.run_at <= now(), task.parent, task.policies, task.unique_key)
    ON CONFLICT DO NOTHING
    RETURNING tasks.id INTO there;
    IF FOUND THEN
      RETURN there;
    END IF;
  END LOOP;
END
$$;

-- Inserts tasks of which some have keys: in order of the keys, so that no two calls deadlock, at places in order of the
-- array. Returns, for each that is not there as it was given, its id with the task that is there instead.
CREATE FUNCTION holdfast.insert_keyed_tasks(tasks jsonb) RETURNS TABLE (given uuid, task holdfast.tasks)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  places bigint[] := ARRAY(SELECT nextval('holdfast.places') FROM jsonb_array_elements(tasks));
  one record;
  new_task holdfast.tasks;
  ids uuid[] := '{}';
  answers uuid[] := '{}';
BEGIN
  FOR one IN
    SELECT n.* FROM ROWS FROM (
      jsonb_to_recordset(tasks) AS (
        id uuid, name text, queue text, payload jsonb, exclusive text[], shared text[], priority smallint, needs jsonb,
        "runAt" timestamptz, parent uuid, policies jsonb, "uniqueKey" text, "uniqueMode" text
      )
    ) WITH ORDINALITY AS n
    ORDER BY n."uniqueKey" COLLATE "C", n.ordinality
  LOOP
    new_task.id := one.id;
    new_task.place := places[one.ordinality];
    new_task.name := one.name;
    new_task.queue := one.queue;
    new_task.needs := one.needs;
    new_task.payload := one.payload;
    new_task.exclusive := one.exclusive;
    new_task.shared := one.shared;
    new_task.priority := one.priority;
    new_task.run_at := one."runAt";
    new_task.parent := one.parent;
    new_task.policies := one.policies;
    new_task.unique_key := one."uniqueKey";
    ids := ids || one.id;
    answers := answers || holdfast.insert_task(new_task, one."uniqueMode" = 'replace');
  END LOOP;

  RETURN QUERY
  SELECT a.given, t FROM unnest(ids, answers) AS a (given, answer)
  JOIN holdfast.tasks t ON t.id = a.answer
  WHERE a.given <> a.answer OR t.state <> 'waiting';
END
$$;
