SELECT epoch, identity, table_kind AS "tableKind", table_address AS "tableAddress" FROM holdfast.namespace
