SELECT holdfast.make_due($1::integer) AS made
