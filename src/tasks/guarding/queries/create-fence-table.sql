-- In turn: IF NOT EXISTS does not keep two that create it at one time from colliding.
DO $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('holdfast_fences', 0));
  CREATE TABLE IF NOT EXISTS holdfast_fences (
    resource text COLLATE "C" PRIMARY KEY,
    exclusive text COLLATE "C" NOT NULL,
    shared text COLLATE "C" NOT NULL
  );
END
$$
