-- By its text: the function that makes the other keys does not exist before the first migration.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('.', 'holdfast', 'migration'), 0))
