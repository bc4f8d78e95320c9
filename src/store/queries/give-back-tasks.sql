SELECT g.given_back AS task, g.next_entry AS "nextEntry", g.rolls_back AS "rollsBack", g.paused
FROM holdfast.give_back_tasks($1::bigint, $2::uuid[], $3::integer[], $4::boolean[]) g
