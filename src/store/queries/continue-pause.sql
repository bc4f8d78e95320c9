SELECT holdfast.continue_pause($1::text, $2::integer) AS phase
