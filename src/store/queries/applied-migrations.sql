SELECT name, checksum FROM holdfast.migrations ORDER BY name
