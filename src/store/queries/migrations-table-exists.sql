SELECT to_regclass('holdfast.migrations') IS NOT NULL AS exists
