UPDATE holdfast.namespace SET epoch = $1::bigint, identity = $2, timeline = holdfast.timeline()
