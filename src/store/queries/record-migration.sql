INSERT INTO holdfast.migrations (name, checksum) VALUES ($1, $2)
