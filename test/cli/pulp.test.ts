import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestPulp } from '../pulp/test-pulp.js';
import type { Ended } from './run-holdfast.js';
import { holdfastHere, holdfastJsonHere } from './run-here.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

const place = (): string[] => ['--redis', test.server.url, '--database', test.databaseUrl];
const run = (...args: string[]): Promise<Ended> => holdfastHere(['pulp', ...args, ...place()]);
const json = (...args: string[]): Promise<unknown> => holdfastJsonHere(['pulp', ...args, ...place()]);

/** One owner of each kind, with a lock of a resource of its own and one that all share. */
async function fleet(): Promise<void> {
  const silences = { live: '1s', late: '2m', missing: '23h' };
  for (const [name, silent] of Object.entries(silences)) await test.process(name, { silent });
  for (const name of [...Object.keys(silences), 'orphan']) {
    await test.takes(name, { exclusive: [name], shared: ['store'] });
  }
}

const locksOf = (name: string): string[] => [`pulp:resource_lock:${name}`, 'pulp:resource_lock:store'];

describe('inspect', () => {
  it('tells who holds what, who is stale, and why', async () => {
    await fleet();
    const before = await test.everything();
    const { owners, scan } = (await json('inspect')) as { owners: Record<string, unknown>[]; scan: unknown };
    expect(owners.map(({ owner, liveness, stale }) => [owner, liveness, stale])).toEqual([
      ['late', 'late', false],
      ['live', 'live', false],
      ['missing', 'missing', true],
      ['orphan', 'orphan', true],
    ]);
    for (const { owner, holds } of owners) expect((holds as string[]).sort()).toEqual(locksOf(String(owner)));
    expect(scan).toEqual({ state: 'not-allowed', allowedInMs: null });
    const { stdout, stderr, status } = await run('inspect');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^missing +missing +heard of 23h0m ago, TTL 30\.0s +pulp:resource_lock:/m);
    expect(stdout).toMatch(/^orphan +orphan +no process of this name/m);
    expect(stdout).toMatch(/^late +late +heard of 2m\ds ago, TTL 30\.0s: may be alive/m);
    expect(stderr).toMatch(/2 missing or orphaned/);
    expect(await test.everything()).toEqual(before);
  });

  it('looks at Redis alone where it is given no database, and calls nobody dead', async () => {
    await fleet();
    const inspection = await holdfastJsonHere([
      'pulp',
      'inspect',
      '--redis',
      test.server.url,
      '--allow-scan',
    ]);
    const { owners, scan } = inspection as { owners: { liveness: string; stale: boolean }[]; scan: unknown };
    expect(owners.map(({ liveness, stale }) => ({ liveness, stale }))).toEqual(
      Array.from({ length: 4 }, () => ({ liveness: 'unknown', stale: false })),
    );
    expect(scan).toMatchObject({ state: 'done' });
  });

  it('reports what a predecessor has left under the name of a live process', async () => {
    const before = await test.process('1@pod', { silent: '9s' });
    await test.process('1@pod');
    const task = await test.task('running', before, ['a']);
    await test.takes('1@pod', { task, exclusive: ['a'] });
    expect(await json('inspect')).toMatchObject({
      owners: [
        {
          liveness: 'live',
          predecessor: [
            { key: 'pulp:resource_lock:a', task, state: 'running', process: before, why: 'predecessor' },
            { key: `task:${task}`, task, state: 'running', process: before, why: 'predecessor' },
          ],
        },
      ],
    });
    expect((await run('inspect')).stderr).toMatch(/1 live with locks of a predecessor/);
  });
});

describe('clean', () => {
  it('is a dry run by default, with the exact list', async () => {
    await fleet();
    const before = await test.everything();
    const dry = (await json('clean')) as { owners: { owner: string; released: string[] }[] };
    expect(dry).toMatchObject({ ok: true, dryRun: true });
    expect(dry.owners.map(({ owner, released }) => [owner, released.sort()])).toEqual([
      ['missing', locksOf('missing')],
      ['orphan', locksOf('orphan')],
    ]);
    const { stdout, stderr, status } = await run('clean');
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((line) => line.endsWith('would be released'))).toHaveLength(4);
    expect(stderr).toMatch(/late is late, and left alone: see --owner\.\nNothing was changed: with --yes/);
    expect(await test.everything()).toEqual(before);
  });

  it('does with --yes what the dry run told, and changes nothing else', async () => {
    await fleet();
    const dry = (await json('clean')) as object;
    expect(await json('clean', '--yes')).toEqual({ ...dry, dryRun: false });
    expect(await test.everything()).toEqual({
      'pulp:active_owners': ['late', 'live'],
      'pulp:owner_locks:late': locksOf('late'),
      'pulp:owner_locks:live': locksOf('live'),
      'pulp:resource_lock:late': 'late',
      'pulp:resource_lock:live': 'live',
      'pulp:resource_lock:store': ['late', 'live'],
    });
    expect((await run('clean', '--yes')).stdout).toBe('Nothing to clean.\n');
  });

  it('takes orphans alone with --reconcile', async () => {
    await fleet();
    expect(await json('clean', '--reconcile', '--yes')).toMatchObject({
      owners: [{ owner: 'orphan', liveness: 'orphan', done: true }],
      spared: [
        { owner: 'late', liveness: 'late' },
        { owner: 'missing', liveness: 'missing' },
      ],
    });
    expect(await test.redis.smembers('pulp:active_owners')).toHaveLength(3);
  });

  it('takes a late owner only by its name, and a live one never', async () => {
    await fleet();
    expect(await run('clean', '--owner', 'late', '--yes')).toMatchObject({ status: 0 });
    const { status, stdout, stderr } = await run('clean', '--owner', 'live', '--owner', 'orphan', '--yes');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^live +live +left alone$/m);
    expect(stderr).toMatch(/^live is live, .* holdfast pulp clean --owner live --predecessor$/m);
    expect(stderr).not.toMatch(/again later/);
    expect((await test.redis.smembers('pulp:active_owners')).sort()).toEqual(['live', 'missing']);
    expect(await test.redis.get('pulp:resource_lock:live')).toBe('live');
  });

  it('says of a name that nothing is known of it', async () => {
    await fleet();
    const { status, stdout, stderr } = await run('clean', '--owner', 'orphann', '--owner', 'orphan');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^orphann +orphan +unknown: no process of this name, and no lock listed for it$/m);
    expect(stderr).toMatch(/^Unknown, perhaps misspelt: orphann$/m);
  });

  it('finds locks in no registry with --allow-scan, and tells when another scan is allowed', async () => {
    await test.takesUnregistered('old', { exclusive: ['a'] });
    await test.redis.set('task:foreign', 'hello');
    expect(await json('clean', '--yes')).toMatchObject({ owners: [], scan: { state: 'not-allowed' } });
    expect((await run('clean', '--owner', 'old')).stderr).toMatch(
      /^No lock is listed for old\. .*--allow-scan looks for such locks\.$/m,
    );
    expect(await json('clean', '--allow-scan')).toMatchObject({ owners: [{ owner: 'old' }] });
    expect(await json('clean', '--allow-scan', '--yes')).toMatchObject({
      owners: [{ owner: 'old', released: ['pulp:resource_lock:a'], done: true }],
      ...{ scan: { state: 'done' }, foreign: ['task:foreign'] },
    });
    expect((await run('clean', '--allow-scan')).stderr).toMatch(/Not scanned: .*allowed in 14m\d+s/);
    expect((await test.redis.keys('*')).sort()).toEqual(['pulp:last_legacy_owner_scan', 'task:foreign']);
  });

  it('exits 1 where an owner failed, after cleaning up after the others', async () => {
    await test.redis.sadd('pulp:active_owners', 'broken');
    await test.redis.set('pulp:owner_locks:broken', 'x');
    await test.takes('orphan', { exclusive: ['a'] });
    const { status, stdout, stderr } = await run('clean', '--yes');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^broken +orphan +failed: /m);
    expect(stderr).toMatch(/^Not done, try again later: broken$/m);
    expect(await test.redis.exists('pulp:resource_lock:a')).toBe(0);
  });

  it('releases what a predecessor left lock by lock, as the line of the dry run says', async () => {
    const before = await test.process("1@pod's", { silent: '9s' });
    const now = await test.process("1@pod's");
    const left = await test.task('running', before, ["a 'b'"]);
    const own = await test.task('running', now, ['c']);
    await test.takes("1@pod's", { task: own, exclusive: ['c'] });
    const kept = await test.everything();
    await test.takes("1@pod's", { task: left, exclusive: ["a 'b'"] });
    const dry = await run('clean', '--owner', "1@pod's", '--predecessor');
    expect(dry).toMatchObject({ status: 0, stdout: expect.stringContaining(`task:${left}`) as unknown });
    expect(dry.stdout).not.toContain(own);
    const [, line = ''] = /^ {2}holdfast (pulp clean .*)$/m.exec(dry.stderr) ?? [];
    const args = [...line.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain = '']) =>
      quoted === undefined ? plain : quoted.replaceAll("'\\''", "'"),
    );
    const released = await holdfastHere([...args, ...place()]);
    expect(released).toMatchObject({ status: 0, stderr: '' });
    expect(released.stdout).toMatch(/^1@pod's +live +pulp:resource_lock:a 'b' +released$/m);
    expect(await test.everything()).toEqual(kept);
    const lock = ['--lock', 'pulp:resource_lock:c'];
    const refused = await run('clean', '--owner', "1@pod's", '--predecessor', ...lock, '--yes');
    expect(refused).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("not a predecessor's") as unknown,
      stderr: '',
    });
    expect(await test.everything()).toEqual(kept);
  });

  it('needs no more of PostgreSQL than to read the two tables', async () => {
    await fleet();
    const role = new URL(test.databaseUrl).pathname.slice(1);
    await test.client.query(
      `CREATE ROLE ${role} LOGIN; GRANT SELECT ON core_appstatus, core_task TO ${role}`,
    );
    try {
      const url = test.databaseUrl.replace('postgres@', `${role}@`);
      const args = ['pulp', 'clean', '--yes', '--allow-scan', '--redis', test.server.url, '--database', url];
      expect(await holdfastHere(args)).toMatchObject({ status: 0 });
    } finally {
      await test.client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});

describe('wrong usage', () => {
  it.each([
    [['clean', '--redis', 'redis://127.0.0.1:1'], /^NotConfigured: Give Pulp's PostgreSQL/],
    [['inspect'], /^NotConfigured: Give Pulp's Redis/],
    [['inspect', '--embedded'], /^NotConfigured: Pulp has servers/],
    [['inspect', '--redis', 'redis+cluster://127.0.0.1'], /^NotConfigured: .*cannot be a Cluster/],
    [['clean', '--owner', ''], /^InvalidTask: --owner must not be empty/],
    [['clean', '--owner', 'x', '--reconcile'], /^InvalidTask: Give --owner or --reconcile/],
    [['clean', '--predecessor'], /^InvalidTask: --predecessor needs one --owner/],
    [['clean', '--owner', 'x', '--predecessor', '--yes'], /^InvalidTask: Name each lock/],
    [['clean', '--lock', 'x'], /^InvalidTask: --lock goes with --predecessor/],
  ])('%j exits 2', async (args, text) => {
    const { status, stdout, stderr } = await holdfastHere(['pulp', ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(text);
  });

  it("refuses a database that is not Pulp's, where all would look like orphans", async () => {
    await fleet();
    await test.client.query('ALTER TABLE core_appstatus RENAME TO other');
    try {
      expect(await run('clean', '--yes')).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/not Pulp's database/) as unknown,
      });
      expect(await test.redis.smembers('pulp:active_owners')).toHaveLength(4);
    } finally {
      await test.client.query('ALTER TABLE other RENAME TO core_appstatus');
    }
  });
});

it('exits 3 where a server cannot be reached', async () => {
  const args = ['pulp', 'clean', '--redis', 'redis://127.0.0.1:1', '--database', test.databaseUrl];
  expect(await holdfastHere(args)).toMatchObject({ status: 3, stdout: '' });
});
