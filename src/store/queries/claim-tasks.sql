SELECT c.outcome AS answer, c.claim_id, c.claim_entry, (c.task).*
FROM holdfast.claim_tasks($1::bigint, $2::bigint, $3::uuid[], $4::integer[], $5::text[]) c
