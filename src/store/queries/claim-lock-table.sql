-- The first to come records its table; everybody else reads what is recorded.
UPDATE holdfast.namespace
SET table_kind = coalesce(table_kind, $1), table_address = coalesce(table_address, $2)
RETURNING table_kind AS kind, table_address AS address
