SELECT holdfast.clear_take_outs($1::uuid[], $2::integer[], $3::boolean[])
