import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { holdfast, holdfastJson, startHoldfast } from './run-holdfast.js';

interface DemoDocument {
  tasks: number;
  resumed: number;
  overlaps: number;
}

const limitMs = 120_000;
let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  env = { TMPDIR: folder };
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const good = {
  ...{ ok: true, verified: true, problems: [], locksLeft: 0, overlaps: 0 },
  ...{ seconds: expect.any(Number) as number, longestQueue: expect.any(Number) as number },
};

function expectGood(document: unknown): DemoDocument {
  expect(document).toMatchObject(good);
  const demo = document as DemoDocument & { completed: number; longestQueue: number };
  expect(demo.tasks).toBeGreaterThan(250);
  expect(demo.completed).toBe(demo.tasks);
  expect(demo.longestQueue).toBeGreaterThan(1);
  return demo;
}

describe('holdfast demo', () => {
  it('is ok embedded, and leaves no file behind', { timeout: limitMs }, async () => {
    expectGood(await holdfastJson(['demo', '--once'], { env }));
    expect(await readdir(folder)).toEqual([]);
  });

  it('is ok on real servers, with several worker processes', { timeout: limitMs }, async () => {
    const namespace = uniqueNamespace();
    const urls = { HOLDFAST_DATABASE_URL: sharedPostgresUrl(), HOLDFAST_REDIS_URL: sharedRedisUrl() };
    const place = { ...env, ...urls, HOLDFAST_NAMESPACE: namespace };
    const demo = await holdfastJson(['demo', '--once'], { env: place });
    expect(demo).toMatchObject({ mode: 'servers', workers: 3 });
    expectGood(demo);
    expect(await holdfastJson(['workers', 'list'], { env: place })).toEqual({ workers: [], next: null });
    await dropNamespace(namespace);
    expect(await readdir(folder)).toEqual([]);
  });

  it(
    'killed in the middle and started again, runs what waited and verifies',
    { timeout: limitMs },
    async () => {
      const dataDir = join(folder, 'data');
      const place = ['--embedded', '--data-dir', dataDir];
      const killed = startHoldfast(['demo', '--data-dir', dataDir], { env });
      await waitUntil(
        () => / (\d\d+) of \d+ tasks done/.test(killed.stderr) || killed.child.exitCode !== null,
        'some progress',
        30_000,
      );
      killed.child.kill('SIGKILL');
      expect(await killed.ended).toMatchObject({ status: null, stdout: '' });
      const { tasks: left } = (await holdfastJson([
        'tasks',
        'list',
        '--state',
        'waiting',
        '--state',
        'running',
        '--limit',
        '1000',
        ...place,
      ])) as { tasks: { id: string; state: string }[] };
      expect(left.length).toBeGreaterThan(8);

      const { resumed } = expectGood(await holdfastJson(['demo', '--data-dir', dataDir], { env }));
      expect(resumed).toBe(left.length);
      for (const { id } of left.slice(0, 3)) {
        expect(await holdfastJson(['tasks', 'show', id, ...place])).toMatchObject({ state: 'completed' });
      }
      expect(await readdir(folder)).toEqual(['data']);
      expect(await readdir(dataDir)).not.toContain('mirror');
    },
  );

  it('ends soon and tidily when it is interrupted', { timeout: limitMs }, async () => {
    const demo = startHoldfast(['demo'], { env });
    await waitUntil(
      () => demo.stderr.includes('tasks done') || demo.child.exitCode !== null,
      'some progress',
      30_000,
    );
    demo.child.kill('SIGINT');
    expect(await demo.ended).toMatchObject({ status: 1, stdout: '' });
    expect(demo.stderr).toContain('Stopped by SIGINT.');
    expect(await readdir(folder)).toEqual([]);
  });

  it('shows the result to people, with progress and hints apart from it', { timeout: limitMs }, async () => {
    const { status, stdout, stderr } = await holdfast(['demo'], { env });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^verified +every manifest matches its files, every blob its hash$/m);
    expect(stdout).toMatch(/The demo is ok\.\n$/);
    expect(stderr).toMatch(
      /^Mirroring \d+ packages embedded, with no server of any kind: one worker, 8 slots\.$/m,
    );
    expect(stderr).toMatch(/holdfast demo --data-dir/);
  });
});
