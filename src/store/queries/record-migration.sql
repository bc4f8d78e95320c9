INSERT INTO holdfast.migrations (name, checksum, contracts) VALUES ($1, $2, $3)
