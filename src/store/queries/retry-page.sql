-- The moment goes back and forth as a text: as a value it would lose its microseconds.
SELECT r.last, r.retried::integer, r.refused::integer, u.until::text AS until
FROM (SELECT coalesce($3::text::timestamptz, now()) AS until) u
CROSS JOIN LATERAL holdfast.retry_page(
  $1::text, $2::text, u.until, coalesce($4::uuid, '00000000-0000-0000-0000-000000000000'), $5::integer
) r
