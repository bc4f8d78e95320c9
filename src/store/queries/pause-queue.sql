SELECT holdfast.pause_queue($1)
