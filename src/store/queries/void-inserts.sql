SELECT holdfast.void_inserts($1::bigint, $2::bigint) AS done
