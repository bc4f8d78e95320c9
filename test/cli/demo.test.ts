import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Started } from './run-holdfast.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { fillPgliteFolder } from '../helpers/pglite-folder.js';
import { waitUntil } from '../helpers/wait-until.js';
import { holdfastJson, startHoldfast } from './run-holdfast.js';

interface DemoDocument {
  tasks: number;
  resumed: number;
  overlaps: number;
  recovered?: { what: string; locks: number; ms: number }[];
}

const limitMs = 300_000;
vi.setConfig({ testTimeout: limitMs });

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
  expect(demo.tasks).toBeGreaterThan(110);
  expect(demo.completed).toBe(demo.tasks);
  expect(demo.longestQueue).toBeGreaterThan(1);
  return demo;
}

describe('holdfast demo', () => {
  it('on real servers, with several worker processes and crashes, recovers from each and is ok', async () => {
    const namespace = uniqueNamespace();
    const urls = { HOLDFAST_DATABASE_URL: sharedPostgresUrl(), HOLDFAST_REDIS_URL: sharedRedisUrl() };
    const place = { ...env, ...urls, HOLDFAST_NAMESPACE: namespace };
    const demo = await holdfastJson(['demo', '--crash', '--once'], { env: place });
    expect(demo).toMatchObject({ mode: 'servers', workers: 3 });
    expectRecovered(expectGood(demo), ['child process', 'worker process', 'orphan']);
    expect(await holdfastJson(['workers', 'list'], { env: place })).toEqual({ workers: [], next: null });
    await assertNothingLeft({
      ...{ databaseUrl: urls.HOLDFAST_DATABASE_URL, redisUrl: urls.HOLDFAST_REDIS_URL, namespace },
    });
    await dropNamespace(namespace);
    expect(await readdir(folder)).toEqual([]);
  });

  it('embedded with crashes, interrupted, ends in order; started again without, goes on to its end', async () => {
    const dataDir = join(folder, 'data');
    await fillPgliteFolder(join(dataDir, 'pg'));
    const demo = ['demo', '--data-dir', dataDir];

    const interrupted = startHoldfast([...demo, '--crash'], { env });
    await untilBegun(interrupted);
    interrupted.child.kill('SIGINT');
    expect(await interrupted.ended).toMatchObject({ status: 1, stdout: '' });
    expect(interrupted.stderr).toContain('Stopped by SIGINT.');
    expect(await readdir(dataDir)).toContain('mirror');

    const finished = expectGood(await holdfastJson(demo, { env }));
    // What was dispatched had ended before the interrupted one did.
    expect(finished.resumed).toBe(0);
    expect(finished.recovered).toBeUndefined();
    expect(await readdir(folder)).toEqual(['data']);
    expect(await readdir(dataDir)).not.toContain('mirror');
  });
});

function expectRecovered({ recovered = [] }: DemoDocument, what: string[]): void {
  expect(recovered.map((one) => one.what)).toEqual(what);
  for (const { locks, ms } of recovered) {
    expect(locks).toBeGreaterThan(0);
    expect(ms).toBeGreaterThanOrEqual(0);
  }
}

/** Resolves when the job has begun: from here on there are tasks that wait. */
async function untilBegun(demo: Started): Promise<void> {
  const begun = (): boolean => / of [1-9]\d* tasks done/.test(demo.stderr);
  await waitUntil(() => begun() || demo.child.exitCode !== null, 'the job to begin', limitMs);
}
