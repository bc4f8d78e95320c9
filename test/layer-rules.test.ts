import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const forbidden = [
  ['src/owner.ts', './store/store.js'],
  ['src/holdfast.ts', './cli/main.js'],
  ['src/holdfast/open-backend.ts', '../cli/main.js'],
  ['src/locks/lock-table.ts', '../store/store.js'],
  ['src/locks/redis/redis-table.ts', '../../tasks/task.js'],
  ['src/locks/memory/memory-table.ts', '../../worker/worker.js'],
  ['src/store/store.ts', '../locks/lock-table.js'],
  ['src/store/pg/pool.ts', '../../recovery/rebuild.js'],
  ['src/tasks/task.ts', '../worker/worker.js'],
  ['src/tasks/dispatch/dispatch.ts', '../../holdfast.js'],
  ['src/worker/worker.ts', '../cli/main.js'],
  ['src/worker/loop.ts', '../holdfast/open-backend.js'],
  ['src/worker/attempt.ts', '../index.js'],
  ['src/worker/claiming.ts', '../api/own-inserts.js'],
  ['src/api/api-owner.ts', '../holdfast/open-backend.js'],
  ['src/recovery/rebuild.ts', '../embedded/embedded.js'],
  ['src/embedded/embedded.ts', '../cli/main.js'],
  ['src/embedded/open-embedded.ts', '../pulp/open-pulp.js'],
  ['src/holdfast/worker-in-process.ts', '../pulp/open-pulp.js'],
  ['src/worker/beat.ts', '../pulp/open-pulp.js'],
  ['src/pulp/clean.ts', '../recovery/rebuild.js'],
  ['src/pulp/owners.ts', '../locks/lock-table.js'],
  ['src/pulp/tasks.ts', '../store/store.js'],
  ['src/pulp/options.ts', '../cli/main.js'],
  ['src/service/supervision.ts', '../cli/main.js'],
  ['src/service/worker-life.ts', '../pulp/open-pulp.js'],
  ['src/holdfast/backend.ts', '../service/supervision.js'],
  ['src/worker/provably-dead.ts', '../service/supervision.js'],
  ['src/pulp/liveness.ts', '../service/supervision.js'],
] as const;
const allowed = [
  ['src/index.ts', './holdfast.js'],
  ['src/holdfast/worker.ts', '../embedded/embedded.js'],
  ['src/locks/redis/scripts.ts', '../lock-table.js'],
  ['src/store/tasks.ts', '../owner.js'],
  ['src/tasks/definition.ts', '../store/store.js'],
  ['src/worker/admission.ts', '../locks/lock-table.js'],
  ['src/api/api-parts.ts', '../worker/claiming.js'],
  ['src/pulp/redis.ts', '../locks/redis/connection.js'],
  ['src/pulp/database.ts', '../store/postgres-database.js'],
  ['src/service/clean-up-after-exit.ts', '../recovery/recovery.js'],
  ['src/service/restart-pauses.ts', '../worker/backoff.js'],
  ['src/cli/run-service.ts', '../service/supervision.js'],
  ['src/cli/main.ts', '../index.js'],
  ['src/cli/pulp-command.ts', '../pulp/open-pulp.js'],
] as const;

let folder: string;
let complaints: Set<string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-layers-'));
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
  for (const [file, imported] of [...forbidden, ...allowed]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `export * from '${imported}';\n`);
  }
  complaints = await restrictedImports();
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The files in which the linter finds a forbidden import. */
function restrictedImports(): Promise<Set<string>> {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  return new Promise((resolve) => {
    execFile(process.execPath, [oxlint, '-f', 'unix'], { cwd: folder }, (_error, stdout) => {
      const lines = stdout.split('\n').filter((line) => line.includes('no-restricted-imports'));
      resolve(new Set(lines.map((line) => line.slice(0, line.indexOf(':')))));
    });
  });
}

test.each(forbidden)('%s may not import %s', (file) => {
  expect(complaints).toContain(file);
});

test.each(allowed)('%s may import %s', (file) => {
  expect(complaints).not.toContain(file);
});
