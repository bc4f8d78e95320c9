// Takes the lock of admission, enters what waits, and stops in the middle of the pass: `freeze` (SIGSTOP) or `kill`.
// Arguments: the way to stop, the namespace, the URLs of PostgreSQL and Redis.
import { createRedisLockTable } from '../../dist/locks/redis/redis-lock-table.js';
import { createPostgresDatabase } from '../../dist/store/postgres-database.js';
import { createStore } from '../../dist/store/create-store.js';

const [how, namespace, postgresUrl, redisUrl] = process.argv.slice(2);
const store = createStore(createPostgresDatabase({ connection: postgresUrl }), namespace);
const table = createRedisLockTable({ url: redisUrl, namespace });
await table.start();
await store.admissionPass(async (admission) => {
  const { epoch, pass } = admission;
  const lanes = await admission.lanesToAdmit(epoch);
  const request = { epoch, lanes, afterPlace: '0', limit: 500 };
  const tasks = lanes.length === 0 ? [] : await admission.tasksToAdmit(request);
  await table.enter(
    epoch,
    pass,
    tasks.map(({ id, ...hold }) => ({ task: id, ...hold })),
  );
  process.stdout.write(`entered ${tasks.length}\n`);
  process.kill(process.pid, how === 'freeze' ? 'SIGSTOP' : 'SIGKILL');
  await new Promise(() => {});
});
