// Migrates one namespace and prints what it applied. Arguments: the URL, the namespace.
import { createStore } from '../../dist/store/create-store.js';
import { createPostgresDatabase } from '../../dist/store/postgres-database.js';

const [, , connection, namespace] = process.argv;
const database = createPostgresDatabase({ connection });
try {
  // All of them are loaded and connected before the first one starts.
  await database.query('SELECT 1');
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  const { applied } = await createStore(database, namespace).migrate();
  process.stdout.write(`${JSON.stringify(applied)}\n`);
} finally {
  await database.close();
}
