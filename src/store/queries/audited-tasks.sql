SELECT t.id, t.state, t.entry, t.worker, t.due, t.admitted_epoch, t.take_out, t.exclusive, t.shared
FROM holdfast.tasks t WHERE t.id = ANY ($1::uuid[])
