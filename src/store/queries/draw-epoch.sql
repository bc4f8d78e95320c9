SELECT holdfast.draw_epoch($1::bigint) AS epoch
