-- Notes the fence of a writer for each resource that it holds, and answers with those where that is not too old: an
-- exclusive holder's is larger than every earlier one's, a shared holder's than the last exclusive one's. The rows stay
-- locked until the commit, in one order for all, so that of two writers one sees what the other did.
INSERT INTO holdfast_fences AS known (resource, exclusive, shared)
SELECT writing.resource, writing.exclusive, writing.shared
FROM (
  SELECT unnest($1::text[]) AS resource, $3::text AS exclusive, '' AS shared
  UNION ALL
  SELECT unnest($2::text[]), '', $3::text
) AS writing
ORDER BY writing.resource COLLATE "C"
ON CONFLICT (resource) DO UPDATE
SET exclusive = greatest(known.exclusive, EXCLUDED.exclusive), shared = greatest(known.shared, EXCLUDED.shared)
WHERE known.exclusive <= $3 AND (EXCLUDED.exclusive = '' OR known.shared <= $3)
RETURNING known.resource
