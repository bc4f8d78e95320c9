// A process that holds ad-hoc locks, runs tasks at once, and cancels: as the lines of its standard input tell, until
// they end. What came of each is a line of its standard output.
import { createInterface } from 'node:readline';
import * as tasks from './chaos-tasks.mjs';
import { journaled, rest } from './write-journal.mjs';

const { createHoldfast } = await import(`${process.env.CHAOS_BUILD}/index.js`);
const log = (fields, message) =>
  console.error(JSON.stringify({ message, ...fields, err: fields.err?.stack }));
const logger = { debug: () => {}, info: log, warn: log, error: log };
const hf = await createHoldfast({ tasks: Object.values(tasks), logger });

const does = {
  async dispatch({ name, payload, exclusive, shared, options }) {
    const { id, state } = await hf.dispatch(name, payload, { exclusive, shared, ...options });
    return { id, state };
  },
  async lock({ exclusive, shared, wait, ms }) {
    const lock = await hf.locks.acquire({ exclusive, shared }, { wait });
    const subject = { part: 'lock', task: lock.id, entry: 1, fence: lock.fence, exclusive, shared };
    try {
      await journaled({ ...subject, owner: process.pid }, (alive) => rest(ms, alive, lock.signal));
    } finally {
      await lock.release();
    }
    return { id: lock.id };
  },
  async cancel({ id }) {
    return { state: (await hf.tasks.cancel(id)).state };
  },
  async retry({ id }) {
    return { state: (await hf.tasks.retry(id)).state };
  },
};

async function obey({ number, kind, ...given }) {
  try {
    console.log(JSON.stringify({ number, done: await does[kind](given) }));
  } catch (error) {
    console.log(JSON.stringify({ number, error: error.code ?? error.name, message: error.message }));
  }
}

console.log(JSON.stringify({ ready: true }));
const busy = new Set();
for await (const line of createInterface({ input: process.stdin })) {
  const done = obey(JSON.parse(line)).finally(() => busy.delete(done));
  busy.add(done);
}
await Promise.all(busy);
await hf.close();
