SELECT holdfast.resume_queue($1)
