-- The queues that are paused: each from the commit of its row on, and until that is deleted.
CREATE TABLE holdfast.paused_queues (
  queue text COLLATE "C" PRIMARY KEY CHECK (queue <> '' AND octet_length(queue) <= 1024),
  paused_at timestamptz NOT NULL DEFAULT now(),
  -- What is left to do with the tasks that wait, a page at a time, by whoever comes: so nobody has to live on.
  -- `taking-out`: their entries are raised, and the holds of the old ones marked. `resuming`: they get new places.
  phase text COLLATE "C" NOT NULL DEFAULT 'taking-out' CHECK (phase IN ('taking-out', 'paused', 'resuming')),
  -- Taking out: how far it has come, in the order of the index tasks_to_admit.
  after_lane text COLLATE "C" NOT NULL DEFAULT '',
  after_epoch bigint NOT NULL DEFAULT 0,
  after_place bigint NOT NULL DEFAULT 0,
  -- Resuming: larger than the places from before.
  places_before bigint CHECK ((places_before IS NULL) = (phase <> 'resuming'))
);

-- With what the lanes of a queue begin, and no others: a lane is a JSON array with the queue in front.
CREATE FUNCTION holdfast.lane_prefix(queue text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '[' || to_jsonb(queue)::text || ', ';

-- Pauses a queue. Under the lock of admission no pass is half-way with its tasks, and those that come leave it out.
-- Give-backs that are under way end before: what they made wait is found, and those that come see the pause.
CREATE FUNCTION holdfast.pause_queue(queue text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s'
AS $$
BEGIN
  PERFORM holdfast.require_read_committed();
  PERFORM holdfast.check_name(pause_queue.queue, 'The queue');
  PERFORM pg_advisory_xact_lock(holdfast.lock_key('admission'));
  PERFORM pg_advisory_xact_lock(holdfast.lock_key('pause'));
  INSERT INTO holdfast.paused_queues AS p (queue) VALUES (pause_queue.queue)
  ON CONFLICT ON CONSTRAINT paused_queues_pkey DO UPDATE
  SET phase = 'taking-out', after_lane = '', after_epoch = 0, after_place = 0, places_before = NULL
  WHERE p.phase = 'resuming';
END
$$;

-- Begins to resume a queue. It stays paused until its tasks have their places.
CREATE FUNCTION holdfast.resume_queue(queue text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s'
AS $$
BEGIN
  PERFORM holdfast.check_name(resume_queue.queue, 'The queue');
  UPDATE holdfast.paused_queues p SET phase = 'resuming', places_before = nextval('holdfast.places')
  WHERE p.queue = resume_queue.queue AND p.phase <> 'resuming';
END
$$;

-- The queues that are paused, for give-backs: it waits for a pause that is being committed.
CREATE FUNCTION holdfast.hold_pauses() RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(holdfast.lock_key('pause'));
  RETURN ARRAY(SELECT p.queue FROM holdfast.paused_queues p);
END
$$;

-- Raises the entries of a page of the tasks that wait in the queue and may have a hold, also one that no mark tells of:
-- of a pass that died, or of a give-back. Returns how many it looked at, and moves the cursor on.
CREATE FUNCTION holdfast.take_out_page(work holdfast.paused_queues, row_limit integer) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  prefix text := holdfast.lane_prefix(work.queue);
  prefix_end text := overlay(prefix PLACING '!' FROM length(prefix));
  ids uuid[];
  rows tid[];
  last record;
BEGIN
  WITH page AS MATERIALIZED (
    SELECT t.id, t.lane, t.admitted_epoch, t.place FROM holdfast.tasks t
    WHERE t.state = 'waiting' AND t.due AND t.lane >= prefix AND t.lane < prefix_end
      AND (t.lane, t.admitted_epoch, t.place) > (work.after_lane, work.after_epoch, work.after_place)
    ORDER BY t.lane, t.admitted_epoch, t.place
    LIMIT row_limit
  )
  SELECT ARRAY(SELECT p.id FROM page p ORDER BY p.id) AS ids, p.lane, p.admitted_epoch, p.place INTO last
  FROM page p ORDER BY p.lane DESC, p.admitted_epoch DESC, p.place DESC LIMIT 1;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  ids := last.ids;

  SELECT array_agg(waiting.version) INTO rows FROM unnest(ids) AS c (id)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t WHERE t.id = c.id AND t.state = 'waiting' AND t.due FOR NO KEY UPDATE
  ) waiting;
  UPDATE holdfast.tasks t SET entry = t.entry + 1, admitted_epoch = 0, take_out = t.entry
  FROM unnest(rows) AS c (version)
  WHERE t.ctid = c.version;

  UPDATE holdfast.paused_queues p
  SET after_lane = last.lane, after_epoch = last.admitted_epoch, after_place = last.place
  WHERE p.queue = work.queue;
  RETURN cardinality(ids);
END
$$;

-- Gives new places to a page of the tasks that wait in the queue, in the order of those from before. Returns how many.
CREATE FUNCTION holdfast.resume_page(work holdfast.paused_queues, row_limit integer) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  prefix text := holdfast.lane_prefix(work.queue);
  prefix_end text := overlay(prefix PLACING '!' FROM length(prefix));
  ids uuid[];
  places bigint[];
  rows tid[];
  ordinals integer[];
BEGIN
  -- A loose index scan over the lanes of the queue, as for admission; then the first of each, and of these the first.
  WITH RECURSIVE pairs AS (
    (
      SELECT t.lane, t.admitted_epoch FROM holdfast.tasks t
      WHERE t.state = 'waiting' AND t.due AND t.lane >= prefix AND t.lane < prefix_end
      ORDER BY t.lane, t.admitted_epoch
      LIMIT 1
    )
    UNION ALL
    SELECT following.lane, following.admitted_epoch FROM pairs p
    CROSS JOIN LATERAL (
      SELECT t.lane, t.admitted_epoch FROM holdfast.tasks t
      WHERE t.state = 'waiting' AND t.due AND (t.lane, t.admitted_epoch) > (p.lane, p.admitted_epoch)
        AND t.lane < prefix_end
      ORDER BY t.lane, t.admitted_epoch
      LIMIT 1
    ) following
  ), page AS (
    SELECT first.id, first.place FROM pairs p
    CROSS JOIN LATERAL (
      SELECT t.id, t.place FROM holdfast.tasks t
      WHERE t.state = 'waiting' AND t.due AND t.lane = p.lane AND t.admitted_epoch = p.admitted_epoch
        AND t.place < work.places_before
      ORDER BY t.place
      LIMIT row_limit
    ) first
    ORDER BY first.place
    LIMIT row_limit
  )
  SELECT array_agg(p.id ORDER BY p.place) INTO ids FROM page p;
  places := ARRAY(SELECT nextval('holdfast.places') FROM generate_series(1, cardinality(ids)));

  SELECT array_agg(waiting.version), array_agg(c.ordinal) INTO rows, ordinals
  FROM (SELECT * FROM unnest(ids) WITH ORDINALITY AS u (id, ordinal) ORDER BY u.id) c
  CROSS JOIN LATERAL (
    SELECT t.ctid AS version FROM holdfast.tasks t WHERE t.id = c.id AND t.state = 'waiting' AND t.due FOR NO KEY UPDATE
  ) waiting;
  UPDATE holdfast.tasks t SET place = places[c.ordinal]
  FROM unnest(rows, ordinals) AS c (version, ordinal)
  WHERE t.ctid = c.version;
  RETURN coalesce(cardinality(ids), 0);
END
$$;

-- Does the next page of what is left to do, for one queue or for any. Returns the phase that the queue is in then: NULL
-- where it is not paused (any more), or where for no queue anything is left.
CREATE FUNCTION holdfast.continue_pause(queue text, row_limit integer) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET enable_seqscan = off
AS $$
DECLARE
  work holdfast.paused_queues;
  done boolean;
BEGIN
  PERFORM holdfast.require_read_committed();
  IF continue_pause.queue IS NULL THEN
    SELECT p.* INTO work FROM holdfast.paused_queues p WHERE p.phase <> 'paused'
    ORDER BY p.queue LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
  ELSE
    SELECT p.* INTO work FROM holdfast.paused_queues p WHERE p.queue = continue_pause.queue FOR NO KEY UPDATE;
  END IF;
  IF work.phase IS NULL OR work.phase = 'paused' THEN
    RETURN work.phase;
  END IF;
  IF work.phase = 'taking-out' THEN
    done := holdfast.take_out_page(work, row_limit) < row_limit;
    IF done THEN
      UPDATE holdfast.paused_queues p SET phase = 'paused' WHERE p.queue = work.queue;
    END IF;
    RETURN CASE WHEN done THEN 'paused' ELSE work.phase END;
  END IF;
  done := holdfast.resume_page(work, row_limit) < row_limit;
  IF done THEN
    DELETE FROM holdfast.paused_queues p WHERE p.queue = work.queue;
  END IF;
  RETURN CASE WHEN done THEN NULL ELSE work.phase END;
END
$$;
