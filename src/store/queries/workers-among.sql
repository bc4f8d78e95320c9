SELECT w.incarnation FROM holdfast.workers w WHERE w.incarnation = ANY ($1::bigint[])
