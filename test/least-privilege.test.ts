import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHoldfast, defineTask } from 'holdfast';
import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, test } from 'vitest';
import { projectRoot } from './helpers/installed-package.js';
import { startRedis } from './helpers/redis-server.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from './helpers/servers.js';

const advice = readFileSync(join(projectRoot, 'SECURITY.md'), 'utf8');

test('the rights that SECURITY.md gives a caller suffice to dispatch by SQL, and for nothing else', async () => {
  const namespace = uniqueNamespace();
  const grants = /```sql\n([^]*?)```/.exec(advice)?.[1] ?? '';
  const redis = await startRedis();
  const hf = await createHoldfast({
    ...{ database: sharedPostgresUrl(), redis: redis.url, namespace, migrate: true },
  });
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  const role = `${namespace}_shop`;
  try {
    await client.query(`CREATE ROLE ${role}`);
    await client.query(grants.replaceAll('holdfast', namespace).replaceAll('shop', role));
    await client.query(`SET ROLE ${role}`);
    const { rows } = await client.query(`SELECT ${namespace}.dispatch('a', exclusive => ARRAY['R']) AS id`);
    expect(await hf.tasks.get((rows[0] as { id: string }).id)).toMatchObject({ exclusive: ['R'] });
    await expect(client.query(`SELECT payload FROM ${namespace}.tasks`)).rejects.toThrow('permission denied');
    await expect(client.query(`DELETE FROM ${namespace}.tasks`)).rejects.toThrow('permission denied');
  } finally {
    await client.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await client.end();
    await hf.close();
    await redis.stop();
    await dropNamespace(namespace);
  }
});

test('the rights that the guide on cancelling adds suffice to cancel by SQL', async () => {
  const namespace = uniqueNamespace();
  const guide = readFileSync(join(projectRoot, 'docs/guides/cancelling.md'), 'utf8');
  const grants = [advice, guide].map((page) => /```sql\n([^]*?)```/.exec(page)?.[1] ?? '').join('');
  const hf = await createHoldfast({
    ...{ database: sharedPostgresUrl(), redis: 'memory:', namespace, migrate: true },
  });
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  const role = `${namespace}_shop`;
  try {
    const { id } = await hf.dispatch('a');
    const { id: rollingBack } = await hf.dispatch('a');
    await client.query(
      `UPDATE ${namespace}.tasks SET state = 'rolling_back', outcome = 'retry', rollback_until = now() WHERE id = $1`,
      [rollingBack],
    );
    await client.query(`CREATE ROLE ${role}`);
    await client.query(grants.replaceAll('holdfast', namespace).replaceAll('shop', role));
    await client.query(`SET ROLE ${role}`);
    const cancel = `SELECT c.after FROM ${namespace}.cancel($1) c`;
    expect((await client.query(cancel, [id])).rows).toEqual([{ after: 'canceled' }]);
    expect((await client.query(cancel, [rollingBack])).rows).toEqual([{ after: 'rolling_back' }]);
  } finally {
    await client.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await client.end();
    await hf.close();
    await dropNamespace(namespace);
  }
});

test('the Redis user of SECURITY.md can do all that a worker does, and reach no other key', async () => {
  const namespace = uniqueNamespace();
  const rule = /^ACL (SETUSER .*)$/m.exec(advice)?.[1] ?? '';
  const redis = await startRedis();
  const administrator = new Redis(redis.url);
  await administrator.call('ACL', ...rule.replaceAll('{holdfast}', `{${namespace}}`).split(' '));
  administrator.disconnect();
  const url = redis.url.replace('//', '//holdfast:secret@');
  const greet = defineTask({ name: 'greet', resources: () => ({ exclusive: ['R'] }), run: () => 'hello' });
  const hf = await createHoldfast({
    ...{ database: sharedPostgresUrl(), redis: url, namespace, migrate: true, tasks: [greet] },
  });
  const stranger = new Redis(url);
  try {
    const worker = hf.createWorker();
    const running = worker.run();
    const { id } = await hf.dispatch(greet, null);
    expect(await hf.wait(id, { timeout: '20s' })).toMatchObject({ state: 'completed', result: 'hello' });
    expect(await hf.locks.list()).toEqual({ locks: [], next: null });
    await worker.stop();
    await running;
    await expect(stranger.set('other', '1')).rejects.toThrow('NOPERM');
    await expect(stranger.flushall()).rejects.toThrow('NOPERM');
  } finally {
    stranger.disconnect();
    await hf.close();
    await redis.stop();
    await dropNamespace(namespace);
  }
});
