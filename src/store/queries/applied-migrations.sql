SELECT name, checksum, contracts FROM holdfast.migrations ORDER BY name
