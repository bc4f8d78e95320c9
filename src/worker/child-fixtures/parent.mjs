// A worker process in small: a heartbeat, a pool of children and one job, for tests that kill and freeze it.
import { fileURLToPath } from 'node:url';
import { createChildPool } from '../../../dist/worker/child-pool.js';
import { createHeartbeat } from '../../../dist/worker/heartbeat.js';

const { beater, incarnation, ttlMs, job } = JSON.parse(process.argv[2]);
const heartbeat = createHeartbeat({ ttlMs, beater });
const tell = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

await heartbeat.start(incarnation);
const pool = createChildPool({
  taskFiles: [fileURLToPath(new URL('tasks.mjs', import.meta.url))],
  watchdogAddress: heartbeat.watchdogAddress,
});
heartbeat.fenced.addEventListener('abort', () => tell({ fenced: heartbeat.fenced.reason.message }));
tell({ started: true });

if (job === null) watch();
else await runAndStop(job.name, job.payload);

// Tells, at each turn of the loop, only what has changed.
function watch() {
  let before = null;
  setInterval(() => {
    const aborted = heartbeat.fenced.aborted;
    const may = heartbeat.mayAct();
    if (may !== before) tell({ may, aborted });
    before = may;
  }, 5);
}

async function runAndStop(name, payload) {
  const requests = { progress: () => {}, log: () => {}, dispatch: () => Promise.reject(new Error('no')) };
  const context = { task: { id: 't' }, attempt: 1, fence: '1' };
  tell(await pool.run({ name, handler: 'run', payload, context }, requests).outcome);
  await pool.stop();
  await heartbeat.stop();
}
