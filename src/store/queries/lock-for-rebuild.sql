SELECT pg_advisory_xact_lock(holdfast.lock_key('epoch'))
