SELECT r.before, r.after FROM holdfast.retry($1::uuid) r
