-- An epoch of another timeline is none any more.
SELECT CASE WHEN t.holds THEN n.epoch END AS epoch, CASE WHEN t.holds THEN n.identity END AS identity,
  n.table_kind AS "tableKind", n.table_address AS "tableAddress"
FROM holdfast.namespace n CROSS JOIN LATERAL holdfast.on_timeline(n.timeline) AS t (holds)
