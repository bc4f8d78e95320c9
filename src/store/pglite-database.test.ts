import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openPglite } from '../../test/store/open-pglite.js';
import { insertOne } from '../../test/store/rows.js';
import { createStore } from './create-store.js';
import { createPgliteDatabase } from './pglite-database.js';

describe('the PGlite adapter', () => {
  test('says what to install where the package is missing', async () => {
    const file = fileURLToPath(new URL('../../test/store/without-pglite.mjs', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'NotConfigured' });
    expect(stdout).toContain('npm install @electric-sql/pglite');
  });

  test('keeps its data in the folder, and closes more than once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-pglite-'));
    try {
      const first = await createPgliteDatabase({ dataDir: join(folder, 'data') });
      const store = createStore(first, 'holdfast');
      await store.migrate();
      const { id } = await insertOne(store);
      await Promise.all([first.close(), first.close()]);
      const second = await createPgliteDatabase({ dataDir: join(folder, 'data') });
      expect(await createStore(second, 'holdfast').getTask(id)).toMatchObject({ state: 'waiting' });
      expect(await createStore(second, 'holdfast').pendingMigrations()).toEqual([]);
      await second.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);

  test('says Unavailable after it was closed, and passes on what the work of a transaction threw', async () => {
    const database = await openPglite();
    const own = new Error('of the work');
    await expect(database.transaction(() => Promise.reject(own))).rejects.toBe(own);
    await database.close();
    const unavailable = { code: 'Unavailable', message: 'PostgreSQL is not available: PGlite is closed' };
    await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
    await expect(database.query('SELECT $1', ['1'])).rejects.toMatchObject(unavailable);
    await expect(database.transaction(async () => {})).rejects.toMatchObject(unavailable);
    await expect(database.listen('channel', () => {})).rejects.toMatchObject(unavailable);
  }, 120_000);
});
