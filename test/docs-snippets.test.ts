import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { outputPattern, readSnippets } from './helpers/docs-snippets.js';
import { installPackage, projectRoot, type InstalledPackage } from './helpers/installed-package.js';
import { fillPgliteFolder } from './helpers/pglite-folder.js';
import { startRedis } from './helpers/redis-server.js';
import { sharedPostgresUrl, uniqueNamespace } from './helpers/servers.js';
import { runStory } from './helpers/snippet-story.js';

const pages = ['README.md', ...guides()].map((name) => ({
  name,
  snippets: readSnippets(join(projectRoot, name), name),
}));

function guides(): string[] {
  return readdirSync(join(projectRoot, 'docs/guides')).map((name) => `docs/guides/${name}`);
}

let installed: InstalledPackage;

beforeAll(() => {
  installed = installPackage({ peers: true });
});

afterAll(() => installed.remove());

test.each(pages)('the snippets of $name run', { timeout: 400_000 }, async ({ name, snippets }) => {
  expect(snippets.length).toBeGreaterThan(0);
  const dir = join(installed.dir, 'projects', name);
  mkdirSync(dir, { recursive: true });
  if (snippets.some(({ text }) => text.includes('embedded: true'))) {
    await fillPgliteFolder(join(dir, '.holdfast/pg'));
  }
  const redis = await startRedis();
  const database = await createDatabase();
  try {
    const { env } = installed;
    await runStory({ dir, env, databaseUrl: database.url, redisUrl: redis.url }, snippets);
  } finally {
    await database.drop();
    await redis.stop();
  }
});

test('an expected output is compared line by line, with gaps', () => {
  const pattern = outputPattern('{"id":"…"}\nsecond (line)\n');
  expect(pattern.test('{"id":"42"}\nsecond (line)\n')).toBe(true);
  expect(pattern.test('{"id":"42"}\nsecond line\n')).toBe(false);
  expect(pattern.test('{"id":"42"}\n')).toBe(false);
});

/** A database of its own, since the pages use the default namespace. */
async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = uniqueNamespace();
  const asAdministrator = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: sharedPostgresUrl() });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await asAdministrator(`CREATE DATABASE ${name}`);
  const url = new URL(sharedPostgresUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdministrator(`DROP DATABASE ${name} WITH (FORCE)`) };
}
