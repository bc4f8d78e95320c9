-- CREATE SCHEMA asks for a right that the role may lack where the schema is there already.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = 'holdfast') THEN
    EXECUTE format('CREATE SCHEMA %I', 'holdfast');
  END IF;
END
$$;

CREATE TABLE IF NOT EXISTS holdfast.migrations (
  name text COLLATE "C" PRIMARY KEY,
  checksum text NOT NULL,
  contracts boolean NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)
