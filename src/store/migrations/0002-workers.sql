-- One row for each life of a worker. A beat changes no indexed column and the pages keep room, so it stays a
-- HOT update; claims lock the row FOR KEY SHARE, which no beat waits for.
CREATE TABLE holdfast.workers (
  incarnation bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  counter bigint NOT NULL DEFAULT 0,
  started_at timestamptz NOT NULL DEFAULT now(),
  last_heartbeat timestamptz NOT NULL DEFAULT now(),
  pid integer NOT NULL,
  ttl_ms integer NOT NULL CHECK (ttl_ms > 0),
  concurrency integer NOT NULL CHECK (concurrency >= 0),
  reaped boolean NOT NULL DEFAULT false,
  -- It has said that it may not act any more, or stops, and that its tasks were stopped: they have not crashed it.
  stopped_itself boolean NOT NULL DEFAULT false,
  -- Of the server, when it registered, and at its last beat: it fences itself on another timeline, and while no server runs.
  timeline text DEFAULT holdfast.timeline(),
  server_start timestamptz NOT NULL DEFAULT pg_postmaster_start_time(),
  -- What it inserts itself is numbered; a smaller number than this is refused (void_inserts).
  inserts_from bigint NOT NULL DEFAULT 1,
  -- The newest protocol of the lock table that it can keep.
  table_format integer NOT NULL CHECK (table_format > 0),
  name text COLLATE "C" NOT NULL CHECK (name <> ''),
  kind text NOT NULL CHECK (kind IN ('worker', 'api')),
  host text NOT NULL,
  queues text[] NOT NULL,
  names text[] NOT NULL,
  versions jsonb NOT NULL,
  identity jsonb NOT NULL
) WITH (fillfactor = 50);

