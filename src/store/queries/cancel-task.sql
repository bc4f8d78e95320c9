SELECT c.before, c.after FROM holdfast.cancel($1::uuid) c
