// A worker with a namespace's servers and a task file. `move`: it kills itself once an attempt has ended in the store,
// right before it moves the hold for the roll-back. Otherwise it runs until somebody kills it.
// Arguments: the moment, the namespace, the URLs of PostgreSQL and Redis, the task file, the isolation.
import { createRedisLockTable } from '../../dist/locks/redis/redis-lock-table.js';
import { silentLogger } from '../../dist/log.js';
import { createCurrentEpoch } from '../../dist/recovery/current-epoch.js';
import { findOrOpenEpoch } from '../../dist/recovery/open-epoch.js';
import { createPostgresDatabase } from '../../dist/store/postgres-database.js';
import { createStore } from '../../dist/store/create-store.js';
import { loadTaskFiles } from '../../dist/tasks/load-task-files.js';
import { createWorkerProcess } from '../../dist/worker/worker.js';

const [moment, namespace, postgresUrl, redisUrl, taskFile, isolation] = process.argv.slice(2);
const store = createStore(createPostgresDatabase({ connection: postgresUrl }), namespace);
const table = createRedisLockTable({ url: redisUrl, namespace });
await table.start();
if (moment === 'move') table.move = () => process.kill(process.pid, 'SIGKILL');
const log = silentLogger;
const definitions = new Map((await loadTaskFiles([taskFile])).map((one) => [one.name, one]));
const worker = createWorkerProcess({
  ...{ store, table, definitions, log, isolation, name: 'killed', ttlMs: 3_000, taskFiles: [taskFile] },
  epoch: createCurrentEpoch(() => findOrOpenEpoch({ store, table, log })),
  beater: { kind: 'postgres', connection: postgresUrl, namespace },
  onReady: ({ incarnation }) => process.stdout.write(`${incarnation}\n`),
});
await worker.run();
