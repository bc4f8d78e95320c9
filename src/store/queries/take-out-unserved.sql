SELECT holdfast.take_out_unserved($1::text[], $2::bigint, $3::integer) AS marked
