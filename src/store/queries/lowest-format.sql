SELECT min(w.table_format) AS format FROM holdfast.workers w WHERE NOT w.reaped
