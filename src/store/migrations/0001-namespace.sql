-- One row a namespace: the committed epoch with the lock table's server and the timeline of this one that it was built on, the lock table in use, and the longest TTL
-- that any worker had: so long may one whose row was deleted go on.
CREATE TABLE holdfast.namespace (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch bigint CHECK (epoch >= 1),
  identity text,
  timeline text,
  table_kind text,
  table_address text,
  longest_ttl_ms integer NOT NULL DEFAULT 0,
  CONSTRAINT epoch_has_identity CHECK ((epoch IS NULL) = (identity IS NULL)),
  CONSTRAINT table_has_address CHECK ((table_kind IS NULL) = (table_address IS NULL))
);

INSERT INTO holdfast.namespace DEFAULT VALUES;

CREATE SEQUENCE holdfast.epochs;
CREATE SEQUENCE holdfast.passes;
CREATE SEQUENCE holdfast.places;

-- The advisory locks of one namespace: their numbers are shared with every other user of the database.
CREATE FUNCTION holdfast.lock_key(lock text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended('holdfast' || '.' || lock, 0);

-- The timeline of the server. Another one than before tells that a standby was promoted or a backup restored, which may lack
-- what was committed last. NULL on a standby; '' where the server tells nobody.
CREATE FUNCTION holdfast.timeline() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF pg_is_in_recovery() THEN
    RETURN NULL;
  END IF;
  RETURN left(pg_walfile_name(pg_current_wal_lsn()), 8);
EXCEPTION
  WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
    RETURN '';
END
$$;

-- Whether the server is on that timeline. NULL: nobody knows which it was.
CREATE FUNCTION holdfast.on_timeline(timeline text) RETURNS boolean
LANGUAGE sql STABLE
RETURN timeline IS NULL OR timeline = holdfast.timeline();

-- Each statement of a function sees what was committed before it began only under READ COMMITTED; the guards
-- of claims and finishes read the past under any other level.
CREATE FUNCTION holdfast.require_read_committed() RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'The transaction isolation is %; Holdfast is safe under read committed only.',
      current_setting('transaction_isolation')
      USING ERRCODE = 'HF500', HINT = 'Reset default_transaction_isolation for this role or database.';
  END IF;
END
$$;

-- Only a rebuild calls it, under the epoch lock held exclusively: nobody else draws meanwhile.
CREATE FUNCTION holdfast.draw_epoch(seen bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  drawn bigint := nextval('holdfast.epochs');
  largest bigint := greatest(seen, (SELECT n.epoch FROM holdfast.namespace n));
BEGIN
  IF drawn <= largest THEN
    PERFORM setval('holdfast.epochs', largest);
    drawn := nextval('holdfast.epochs');
  END IF;
  RETURN drawn;
END
$$;
