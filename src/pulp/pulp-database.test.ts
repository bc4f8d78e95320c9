import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import { silentLogger } from '../log.js';
import { openPulp } from './open-pulp.js';
import { PulpDatabase } from './pulp-database.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterAll(() => test.stop());

it('cannot write to PostgreSQL', async () => {
  const database = new PulpDatabase(test.databaseUrl);
  const write = "UPDATE core_task SET state = 'failed' WHERE $1";
  await expect(database.read(write, [true])).rejects.toThrow(/read-only transaction/);
  await database.close();
});

it("tells a database that is not Pulp's from one without processes", async () => {
  const options = { redisUrl: test.server.url, mode: 'look' as const, log: silentLogger };
  await expect(openPulp({ ...options, databaseUrl: sharedPostgresUrl() })).rejects.toMatchObject({
    code: 'NotConfigured',
    message: expect.stringContaining("not Pulp's database") as unknown,
  });
});

it('reads another database of Redis where the URL names it', async () => {
  await test.redis.call('SELECT', 3);
  await test.takes('dead', { task: 't1' });
  const pulp = await test.open('look', `${test.server.url}/3`);
  expect(await pulp.redis.isMember('pulp:active_owners', 'dead')).toBe(true);
  expect(await (await test.open('look')).redis.isMember('pulp:active_owners', 'dead')).toBe(false);
});
