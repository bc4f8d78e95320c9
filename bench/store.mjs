// Measures the store on a real PostgreSQL: inserts, marks, claims and finishes in batches of 500, over two connections.
//
//   npm run build && node bench/store.mjs [tasks] [URL]
//
// Without a URL it starts a PostgreSQL of its own (fsync off: the disk is not what is measured). `a second` counts tasks;
// `of the design` compares it with what the design was measured to do on two idle cores; `server` and `client` are
// microseconds of processor time a task, which a busy machine changes less.
import { readdirSync, readFileSync } from 'node:fs';
import { v7 } from 'uuid';
import { createStore } from '../dist/store/create-store.js';
import { createPostgresDatabase } from '../dist/store/postgres-database.js';
import { startPostgres } from './servers.mjs';

const tasks = Number(process.argv[2] ?? 100_000);
const batch = 500;
const connections = 2;
const design = { insert: 80_000, claim: 80_000, finish: 46_000 };

const server =
  process.argv[3] === undefined ? await startPostgres() : { url: process.argv[3], stop: async () => {} };
const database = createPostgresDatabase({ connection: server.url, connections });
const namespace = 'bench_store';
try {
  await database.query(`DROP SCHEMA IF EXISTS ${namespace} CASCADE`);
  const store = createStore(database, namespace);
  await store.migrate();
  const epoch = await store.rebuild(async (rebuild) => {
    const drawn = await rebuild.drawEpoch(null);
    await rebuild.commitEpoch({ epoch: drawn, identity: 'bench' });
    return drawn;
  });
  const workers = [];
  for (let n = 0; n < connections; n += 1) {
    const identity = { name: `w${n}`, kind: 'worker', host: 'bench', pid: 1, identity: {}, versions: {} };
    const offer = { ttlMs: 15_000, concurrency: 500, queues: ['default'], names: ['bench'] };
    workers.push((await store.registerWorker({ ...identity, ...offer })).incarnation);
  }
  for (const round of [1, 2]) {
    console.log(`round ${round}: ${tasks} tasks`);
    const ids = Array.from({ length: tasks }, () => v7());
    await measure('insert', ids, (some) => store.insertTasks(some.map(newTask)));
    await measure('mark', ids, (some) => {
      const entries = some.map((task) => ({ task, entry: 1 }));
      return database.transaction((queryable) =>
        queryable.query(`SELECT ${namespace}.mark_admitted($1, $2::uuid[], $3::integer[])`, [
          epoch,
          entries.map(({ task }) => task),
          entries.map(({ entry }) => entry),
        ]),
      );
    });
    await measure('claim', ids, (some, loop) => {
      const claims = some.map((task) => ({ task, entry: 1, fence: '0000000000010000000000000001' }));
      return store.claimTasks({ worker: workers[loop], epoch, claims });
    });
    await measure('finish', ids, (some, loop) => {
      const finishes = some.map((task) => ({ task, entry: 1, state: 'completed', result: { files: 12 } }));
      return store.finishTasks(workers[loop], finishes);
    });
    const [{ count }] = (
      await database.query(`SELECT count(*)::integer FROM ${namespace}.tasks WHERE state = 'completed'`)
    ).rows;
    if (count !== round * tasks) throw new Error(`${String(count)} tasks have completed.`);
  }
} finally {
  await database.close();
  await server.stop();
}

function newTask(id) {
  const policies = { maxAttempts: 3, maxCrashes: 3, backoff: { initialMs: 1_000, maxMs: 300_000 } };
  return {
    ...{
      id,
      name: 'bench',
      queue: 'default',
      payload: { repo: 7 },
      priority: 0,
      needs: {},
      runAt: null,
      parent: null,
      uniqueKey: null,
    },
    ...{ exclusive: [`repo:${id.slice(-3)}`], shared: ['store'] },
    policies: { ...policies, onWorkerLost: null, timeoutMs: null, rollbackTimeoutMs: null },
  };
}

/** Each of the loops has its own stretch of the ids, so a worker finishes what it claimed. */
async function measure(what, ids, call) {
  const before = { time: performance.now(), server: serverCpuMs(), client: process.cpuUsage() };
  const each = ids.length / connections;
  await Promise.all(
    Array.from({ length: connections }, async (_, loop) => {
      const own = ids.slice(loop * each, (loop + 1) * each);
      for (let n = 0; n < own.length; n += batch) await call(own.slice(n, n + batch), loop);
    }),
  );
  const rate = ids.length / ((performance.now() - before.time) / 1_000);
  const { user, system } = process.cpuUsage(before.client);
  const ratio =
    design[what] === undefined ? '' : `${Math.round((100 * rate) / design[what])} % of the design`;
  const cpu = `server ${(((serverCpuMs() - before.server) * 1_000) / ids.length).toFixed(1)} µs`;
  const client = `client ${((user + system) / ids.length).toFixed(1)} µs`;
  console.log(
    `  ${what.padEnd(7)} ${String(Math.round(rate)).padStart(7)} a second  ${cpu}  ${client}  ${ratio}`,
  );
}

/** Of the backends of this server's sessions; 0 where /proc does not tell. */
function serverCpuMs() {
  if (server.pid === undefined) return 0;
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      if (
        Number(fields[1]) === server.pid &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('127.0.0.1')
      ) {
        ticks += Number(fields[11]) + Number(fields[12]);
      }
    } catch {
      // It has just ended.
    }
  }
  return ticks * 10;
}
