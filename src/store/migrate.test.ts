import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from './database.js';
import type { Store } from './store.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from '../../test/helpers/servers.js';
import { insertOne } from '../../test/store/rows.js';
import { createStore } from './create-store.js';
import { migrate } from './migrate.js';
import { migrationFiles } from './migration-files.js';
import { createPostgresDatabase } from './postgres-database.js';

describe('migrating', () => {
  const all = migrationFiles().map(({ name }) => name);
  const made: string[] = [];
  let database: Database;
  let namespace: string;
  let store: Store;

  beforeAll(() => {
    database = createPostgresDatabase({ connection: sharedPostgresUrl() });
  });
  beforeEach(() => {
    namespace = uniqueNamespace();
    made.push(namespace);
    store = createStore(database, namespace);
  });
  afterAll(async () => {
    await database.close();
    for (const name of made) await dropNamespace(name);
  });

  test('applies what is missing, in order, once', async () => {
    expect(await store.pendingMigrations()).toEqual(all);
    expect(await store.migrate()).toEqual({ applied: all });
    expect(await store.pendingMigrations()).toEqual([]);
    expect(await store.migrate()).toEqual({ applied: [] });
    await insertOne(store);
  });

  test('applies to an older schema what it lacks', async () => {
    const older = migrationFiles().slice(0, 3);
    await migrate(database, namespace, older);
    expect(await store.pendingMigrations()).toEqual(all.slice(3));
    expect(await store.migrate()).toEqual({ applied: all.slice(3) });
  });

  test('can be run by ten processes at once', async () => {
    const children = await Promise.all(Array.from({ length: 10 }, () => startChild(namespace)));
    for (const { child } of children) child.stdin?.write('go\n');
    const applied = await Promise.all(children.map(({ done }) => done));
    expect(applied.filter((names) => names.length > 0)).toEqual([all]);
    expect(await store.pendingMigrations()).toEqual([]);
    await insertOne(store);
  }, 60_000);

  test('all of it or nothing', async () => {
    const bad = { name: '9999-bad.sql', text: 'SELECT 1/0', checksum: 'x', contracts: false };
    await expect(migrate(database, namespace, [...migrationFiles(), bad])).rejects.toMatchObject({
      code: '22012',
    });
    expect(await store.pendingMigrations()).toEqual(all);
    const { rows } = await database.query('SELECT to_regnamespace($1)::text AS found', [namespace]);
    expect(rows).toEqual([{ found: null }]);
  });

  test('takes a schema to which a newer version has added something', async () => {
    const newer = { name: '9998-adds.sql', text: 'SELECT 1', checksum: 'x', contracts: false };
    await migrate(database, namespace, [...migrationFiles(), newer]);
    expect(await store.pendingMigrations()).toEqual([]);
    expect(await store.migrate()).toEqual({ applied: [] });
  });

  test('refuses a schema from which a newer version has taken something away', async () => {
    const newer = { name: '9999-contracts.sql', text: 'SELECT 1', checksum: 'x', contracts: true };
    await migrate(database, namespace, [...migrationFiles(), newer]);
    await expect(store.migrate()).rejects.toMatchObject({ code: 'WrongSchema' });
    await expect(store.pendingMigrations()).rejects.toThrow('9999-contracts.sql, which takes away');
  });

  test('refuses a schema that another text of a migration made', async () => {
    await store.migrate();
    await database.query(`UPDATE "${namespace}".migrations SET checksum = 'other' WHERE name = $1`, [all[1]]);
    await expect(store.migrate()).rejects.toMatchObject({ code: 'WrongSchema' });
    await expect(store.pendingMigrations()).rejects.toThrow(all[1] ?? '');
  });

  test('needs no right to create anything where nothing is missing', async () => {
    await store.migrate();
    const role = `r_${namespace}`;
    await database.query(`CREATE ROLE ${role} LOGIN`);
    await database.query(`GRANT USAGE ON SCHEMA "${namespace}" TO ${role}`);
    await database.query(`GRANT SELECT ON "${namespace}".migrations TO ${role}`);
    const url = new URL(sharedPostgresUrl());
    url.username = role;
    const limited = createPostgresDatabase({ connection: url.href });
    expect(await createStore(limited, namespace).migrate()).toEqual({ applied: [] });
    await limited.close();
    await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  test('a namespace that was never migrated says so at the first call', async () => {
    await expect(insertOne(store)).rejects.toMatchObject({ code: 'WrongSchema' });
    await expect(store.readNamespace()).rejects.toThrow('holdfast migrate');
    await expect(store.reapWorker('1')).rejects.toMatchObject({ code: 'WrongSchema' });
  });

  test('a name that is no plain name is no namespace', () => {
    expect(() => createStore(database, 'x"; DROP')).toThrow('namespace');
  });
});

interface MigratingChild {
  child: ChildProcess;
  /** What it applied; rejects where it fails. */
  done: Promise<string[]>;
}

/** Resolves when the process is ready to migrate. */
async function startChild(namespace: string): Promise<MigratingChild> {
  const file = fileURLToPath(new URL('../../test/store/migrate-child.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, sharedPostgresUrl(), namespace], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const done = new Promise<string[]>((finish, fail) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        lines.push(line);
        if (line === 'ready') resolve({ child, done });
      });
      child.once('close', (status) => {
        const failure = new Error(`A migrating process ended with ${status}.`);
        if (status === 0) finish(JSON.parse(lines.at(-1) ?? '') as string[]);
        else fail(failure);
        reject(failure);
      });
    });
  });
}
