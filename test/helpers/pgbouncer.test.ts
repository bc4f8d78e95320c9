import pg from 'pg';
import { expect, test } from 'vitest';
import { startPgBouncer } from './pgbouncer.js';
import { sharedPostgresUrl } from './servers.js';

test('PgBouncer pools by transaction: a session setting does not stay with its client', async () => {
  const bouncer = await startPgBouncer(sharedPostgresUrl());
  const [first, second] = [0, 1].map(() => new pg.Client({ connectionString: bouncer.url }));
  try {
    await Promise.all([first?.connect(), second?.connect()]);
    const pid = async (client?: pg.Client): Promise<unknown> =>
      (await client?.query('SELECT pg_backend_pid() AS pid'))?.rows[0];
    expect(await pid(first)).toEqual(await pid(second));
  } finally {
    await Promise.all([first?.end(), second?.end()]);
    await bouncer.stop();
  }
});
