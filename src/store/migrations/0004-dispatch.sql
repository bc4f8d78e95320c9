-- A resource or queue name as src/resources.ts takes it: not empty, at most 1 KiB. NUL and lone surrogates
-- cannot be in a text of PostgreSQL.
CREATE FUNCTION holdfast.check_name(name text, what text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF name IS NULL OR name = '' THEN
    RAISE EXCEPTION '% must not be empty.', what USING ERRCODE = 'HF422';
  END IF;
  IF octet_length(name) > 1024 THEN
    RAISE EXCEPTION '% is % bytes long; the limit is 1024.', what, octet_length(name) USING ERRCODE = 'HF422';
  END IF;
END
$$;

-- The names without duplicates, in byte order, without those in `except_for`.
CREATE FUNCTION holdfast.normal_names(names text[], except_for text[], what text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM holdfast.check_name(n.name, what) FROM unnest(names) AS n (name);
  RETURN ARRAY(
    SELECT DISTINCT n.name COLLATE "C" FROM unnest(names) AS n (name)
    WHERE n.name <> ALL (except_for)
    ORDER BY 1
  );
END
$$;

CREATE FUNCTION holdfast.check_needs(needs jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF needs IS NULL OR jsonb_typeof(needs) <> 'object' OR EXISTS (
    SELECT FROM jsonb_each(CASE jsonb_typeof(needs) WHEN 'object' THEN needs ELSE '{}' END) AS n (library, range)
    WHERE jsonb_typeof(n.range) <> 'string'
  ) THEN
    RAISE EXCEPTION 'needs must be an object of version ranges by name, such as {"ffmpeg": ">=6"}.'
      USING ERRCODE = 'HF422';
  END IF;
END
$$;

-- Dispatches one task, in the caller's transaction, and returns its id; or that of the unfinished task that has its
-- unique key: the mode 'keep' (the default) keeps any, 'replace' cancels one that waits. Policies are written by the worker that
-- runs it. With notify (the default) the commit sends a NOTIFY, which PREPARE TRANSACTION forbids.
--   HF422: a name, the resources, the priority, the time, the needs, the key or its mode are malformed.
--   HF413: the payload takes more than 1 MiB as text.
CREATE FUNCTION holdfast.dispatch(
  name text,
  payload jsonb DEFAULT 'null',
  exclusive text[] DEFAULT '{}',
  shared text[] DEFAULT '{}',
  queue text DEFAULT 'default',
  priority integer DEFAULT 0,
  run_at timestamptz DEFAULT NULL,
  needs jsonb DEFAULT '{}',
  parent uuid DEFAULT NULL,
  notify boolean DEFAULT true,
  unique_key text DEFAULT NULL,
  unique_mode text DEFAULT 'keep'
) RETURNS uuid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  all_exclusive text[] := holdfast.normal_names(dispatch.exclusive, '{}', 'A resource in "exclusive"');
  all_shared text[] := holdfast.normal_names(dispatch.shared, all_exclusive, 'A resource in "shared"');
  new_task holdfast.tasks;
  new_id uuid;
BEGIN
  PERFORM holdfast.check_name(dispatch.name, 'The name of a task');
  PERFORM holdfast.check_name(dispatch.queue, 'The queue');
  PERFORM holdfast.check_needs(dispatch.needs);
  IF dispatch.unique_key IS NOT NULL THEN
    PERFORM holdfast.check_name(dispatch.unique_key, 'unique_key');
  END IF;
  IF dispatch.unique_mode IS NULL OR dispatch.unique_mode NOT IN ('keep', 'replace') THEN
    RAISE EXCEPTION 'unique_mode must be "keep" or "replace"; got "%".', dispatch.unique_mode USING ERRCODE = 'HF422';
  END IF;
  IF cardinality(all_exclusive) + cardinality(all_shared) > 1000 THEN
    RAISE EXCEPTION 'A task names at most 1000 resources; this one names %.',
      cardinality(all_exclusive) + cardinality(all_shared) USING ERRCODE = 'HF422';
  END IF;
  IF dispatch.priority IS NULL OR dispatch.priority NOT BETWEEN -32768 AND 32767 THEN
    RAISE EXCEPTION 'priority must be within -32768 and 32767; got %.', dispatch.priority USING ERRCODE = 'HF422';
  END IF;
  IF dispatch.run_at < '1970-01-01Z' OR dispatch.run_at >= '10000-01-01Z' THEN
    RAISE EXCEPTION 'run_at must be a moment in the years 1970 to 9999; got %.', dispatch.run_at
      USING ERRCODE = 'HF422';
  END IF;
  IF octet_length(holdfast.lane_text(dispatch.queue, dispatch.name, dispatch.needs)) > 2500 THEN
    RAISE EXCEPTION 'Queue, name and needs take more than 2500 bytes together.' USING ERRCODE = 'HF422';
  END IF;
  IF octet_length(dispatch.payload::text) > 1048576 THEN
    RAISE EXCEPTION 'The payload takes % bytes; the limit is 1048576.', octet_length(dispatch.payload::text)
      USING ERRCODE = 'HF413', HINT = 'Store the data elsewhere and send where it is.';
  END IF;
  new_task.name := dispatch.name;
  new_task.queue := dispatch.queue;
  new_task.needs := dispatch.needs;
  new_task.payload := dispatch.payload;
  new_task.exclusive := all_exclusive;
  new_task.shared := all_shared;
  new_task.priority := dispatch.priority;
  new_task.run_at := dispatch.run_at;
  new_task.parent := dispatch.parent;
  new_task.unique_key := dispatch.unique_key;
  new_id := holdfast.insert_task(new_task, dispatch.unique_mode = 'replace');
  IF dispatch.notify THEN
    PERFORM pg_notify('holdfast', '');
  END IF;
  RETURN new_id;
END
$$;
