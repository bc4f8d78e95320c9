-- UUID version 7: the milliseconds since 1970, then random bits. For those who insert from SQL.
CREATE FUNCTION holdfast.new_task_id() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN encode(
  set_bit(
    set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6),
      52, 1),
    53, 1),
  'hex')::uuid;

-- The one place where a lane gets its text: a JSON array of queue, name and needs, and for an ad-hoc lock its
-- requester. jsonb keeps the needs in one order. IMMUTABLE is true of these types, though not of every type that
-- jsonb_build_array takes.
CREATE FUNCTION holdfast.lane_text(queue text, name text, needs jsonb, requester bigint DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  IF requester IS NULL THEN
    RETURN pg_catalog.jsonb_build_array(queue, name, needs)::pg_catalog.text;
  END IF;
  RETURN pg_catalog.jsonb_build_array(queue, name, needs, requester::pg_catalog.text)::pg_catalog.text;
END
$$;

CREATE TABLE holdfast.tasks (
  id uuid PRIMARY KEY DEFAULT holdfast.new_task_id(),
  place bigint NOT NULL DEFAULT nextval('holdfast.places'),
  -- The epoch in which the task's hold of this entry entered the lock table; 0: in none; -1: it was given back, and its hold may
  -- have moved on to this entry in whatever epoch there is.
  admitted_epoch bigint NOT NULL DEFAULT 0,
  -- The incarnation that runs or ran it. No foreign key: the row outlives the worker's.
  worker bigint,
  -- The incarnation that asked for this ad-hoc lock: nobody else may hold it, and it goes with its requester. NULL: a
  -- task.
  requester bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  run_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  entry integer NOT NULL DEFAULT 1,
  attempt integer NOT NULL DEFAULT 0,
  crashes integer NOT NULL DEFAULT 0,
  priority smallint NOT NULL DEFAULT 0,
  -- Whether run_at has come. Admission sets it, so that an index can leave out what is scheduled.
  due boolean NOT NULL DEFAULT true,
  readmitted boolean NOT NULL DEFAULT false,
  -- The last entry whose hold it may have and must not keep: it was waiting with it when it was decided that it does not
  -- go on so. The statement that decides writes the mark, so that nobody has to live on: admission takes the hold of that
  -- entry, or of one before it, out of the lock table, and then the mark away.
  take_out integer,
  state text COLLATE "C" NOT NULL DEFAULT 'waiting',
  name text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL DEFAULT 'default',
  needs jsonb NOT NULL DEFAULT '{}',
  lane text COLLATE "C" NOT NULL GENERATED ALWAYS AS (holdfast.lane_text(queue, name, needs, requester)) STORED,
  parent uuid,
  -- No two tasks that are not in a final state have the same.
  unique_key text COLLATE "C",
  worker_name text COLLATE "C",
  fence text COLLATE "C",
  exclusive text[] NOT NULL DEFAULT '{}',
  shared text[] NOT NULL DEFAULT '{}',
  policies jsonb,
  payload jsonb NOT NULL,
  -- json, unlike jsonb, keeps every text that a handler may produce, NUL included.
  progress json NOT NULL DEFAULT '[]',
  result json,
  error json,
  -- How its latest attempts ended, the oldest first: holdfast.with_attempt makes them.
  attempts json[] NOT NULL DEFAULT '{}',
  -- What becomes of a task that rolls back, once its roll-back has ended: it is failed (with the error) or canceled; a
  -- retry waits at a new place after the delay, or without one at its place; what is given back waits at its place
  -- and its attempt does not count.
  outcome text COLLATE "C",
  outcome_delay_ms bigint,
  rollback_until timestamptz,
  -- When it was claimed, which started_at tells of the attempt.
  rollback_started_at timestamptz,
  -- How the latest roll-back failed, beside the error of the attempt.
  rollback_error json,

  CONSTRAINT state_is_known CHECK (state IN
    ('waiting', 'running', 'canceling', 'rolling_back', 'completed', 'failed', 'canceled')),
  CONSTRAINT waiting_is_nobodys CHECK (state <> 'waiting' OR
    (worker IS NULL AND fence IS NULL AND started_at IS NULL)),
  -- A roll-back that nobody has claimed yet has no worker.
  CONSTRAINT running_is_somebodys CHECK (state NOT IN ('running', 'canceling') OR
    (worker IS NOT NULL AND fence IS NOT NULL AND started_at IS NOT NULL AND attempt >= 1)),
  CONSTRAINT worker_has_name CHECK ((worker IS NULL) = (worker_name IS NULL)),
  CONSTRAINT worker_has_fence CHECK ((worker IS NULL) = (fence IS NULL)),
  CONSTRAINT only_final_is_finished CHECK
    ((state IN ('completed', 'failed', 'canceled')) = (finished_at IS NOT NULL)),
  CONSTRAINT only_completed_has_result CHECK (state = 'completed' OR result IS NULL),
  CONSTRAINT failed_has_error CHECK (state <> 'failed' OR error IS NOT NULL),
  CONSTRAINT completed_has_no_error CHECK (state <> 'completed' OR error IS NULL),
  CONSTRAINT completed_was_not_rolled_back CHECK (state <> 'completed' OR rollback_error IS NULL),
  CONSTRAINT rollback_has_outcome CHECK ((state = 'rolling_back') = (outcome IS NOT NULL) AND
    (outcome IS NULL) = (rollback_until IS NULL)),
  CONSTRAINT outcome_is_known CHECK (outcome IN ('failed', 'canceled', 'retry', 'given-back')),
  CONSTRAINT outcome_failed_has_error CHECK (outcome <> 'failed' OR error IS NOT NULL),
  CONSTRAINT only_retry_has_delay CHECK
    (outcome_delay_ms IS NULL OR outcome IS NOT DISTINCT FROM 'retry' AND outcome_delay_ms >= 0),
  CONSTRAINT rollback_starts_with_claim CHECK
    ((rollback_started_at IS NOT NULL) = (state = 'rolling_back' AND worker IS NOT NULL)),
  CONSTRAINT only_scheduled_is_not_due CHECK (due OR (run_at IS NOT NULL AND state NOT IN ('running', 'canceling', 'rolling_back'))),
  CONSTRAINT numbers_are_in_range CHECK
    (entry >= 1 AND attempt >= 0 AND crashes >= 0 AND admitted_epoch >= -1 AND place >= 1),
  -- It is never given back, retried, scheduled or handed on.
  CONSTRAINT lock_is_its_requesters CHECK (requester IS NULL OR
    (state IN ('waiting', 'running', 'canceled') AND entry = 1 AND run_at IS NULL AND
     (worker IS NULL OR worker = requester))),
  CONSTRAINT run_at_is_a_date CHECK (run_at >= '1970-01-01Z' AND run_at < '10000-01-01Z'),
  CONSTRAINT names_fit CHECK (name <> '' AND octet_length(name) <= 1024 AND
    queue <> '' AND octet_length(queue) <= 1024),
  CONSTRAINT unique_key_fits CHECK (unique_key <> '' AND octet_length(unique_key) <= 1024),
  -- What an index entry can hold, with room for the columns beside it.
  CONSTRAINT lane_fits CHECK (octet_length(lane) <= 2500),
  CONSTRAINT resources_fit CHECK (cardinality(exclusive) + cardinality(shared) <= 1000)
) WITH (
  -- Room for the next versions of the rows on their own pages, whose dead versions are pruned as the pages fill: a
  -- task goes through three or four.
  fillfactor = 50,
  -- Every change of state leaves dead index entries at the front of what admission reads.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.02
);

-- Admission: the pairs of lane and epoch are found by skipping from one to the next, so neither tasks that are
-- admitted nor lanes that nobody serves cost more than one step.
CREATE INDEX tasks_to_admit ON holdfast.tasks (lane, admitted_epoch, place) WHERE state = 'waiting' AND due;
CREATE INDEX tasks_to_take_out ON holdfast.tasks (place) WHERE take_out IS NOT NULL;
CREATE INDEX tasks_scheduled ON holdfast.tasks (run_at) WHERE state = 'waiting' AND NOT due;
CREATE INDEX tasks_running ON holdfast.tasks (worker, id)
  WHERE state IN ('running', 'canceling', 'rolling_back');
CREATE INDEX tasks_requested ON holdfast.tasks (requester, id) WHERE requester IS NOT NULL;
CREATE INDEX tasks_to_roll_back ON holdfast.tasks (rollback_until) WHERE state = 'rolling_back' AND worker IS NULL;
CREATE INDEX tasks_asked_for_by_handlers ON holdfast.tasks (parent, id) WHERE requester IS NOT NULL;
CREATE INDEX tasks_by_state ON holdfast.tasks (state, id);
CREATE INDEX tasks_by_name ON holdfast.tasks (name, state, id);

-- A task without what may be large.
CREATE VIEW holdfast.listed_tasks AS
SELECT
  id, place, worker, created_at, run_at, started_at, finished_at, entry, attempt, crashes, priority, readmitted,
  state, name, queue, lane, parent, unique_key, worker_name, fence, exclusive, shared, policies,
  NULL::jsonb AS payload, progress, NULL::json AS result, error,
  '{}'::json[] AS attempts, outcome, outcome_delay_ms, rollback_until, rollback_started_at, rollback_error
FROM holdfast.tasks;
