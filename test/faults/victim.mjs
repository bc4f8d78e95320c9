// A process that kills itself at the fault point that its environment names. Its argument says what it does until then:
// it runs a worker, which stops at SIGTERM, or it takes a lock, or runs a task at once.
import { createHoldfast } from '../../dist/index.js';
import tasks from './fault-tasks.mjs';

const { does, ttlMs, journal } = JSON.parse(process.argv[2]);
const hf = await createHoldfast({ tasks });
const resources = { exclusive: ['r'] };

if (does === 'work') {
  const worker = hf.createWorker({ ttl: ttlMs, grace: 0, soleName: true });
  process.once('SIGTERM', () => void worker.stop());
  await worker.run();
} else if (does === 'run at once') {
  const { id } = await hf.dispatch('job', { journal }, { ...resources, immediate: true });
  await hf.wait(id);
} else {
  const lock = await hf.locks.acquire(resources, { wait: does === 'lock now' ? 0 : '20s' });
  await lock.release();
}
await hf.close();
