SELECT n.longest_ttl_ms AS "longestTtlMs" FROM holdfast.namespace n
