// A steady load for a long time: does anything grow that should not?
//
//   npm run soak [-- --minutes 30 --rate 1000 --workers 2 --json]
//
// On a PostgreSQL and a Redis of its own. One process dispatches so many tasks a second that name one or two of 10,000
// resources, in either mode; worker processes of the command line run them. Every so often it reads the resident memory
// of each process, the memory and the keys of Redis, and the connections to PostgreSQL. It ends well when nearly all were
// dispatched in time, every task has ended, no key is left that an empty table does not have, no connection more than before,
// and nobody's memory is larger in the last quarter than in the second by a tenth and 16 MiB. The rows of ended tasks stay, so
// PostgreSQL's disk grows.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { createHoldfast } from '../dist/index.js';
import { createPostgresDatabase } from '../dist/store/postgres-database.js';
import { startPostgres, startRedis } from './servers.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
});
const [minutes, rate, workers] = [values.minutes, values.rate, values.workers].map(Number);
const durationMs = minutes * 60_000;
const samples = 40;
const ticksPerSecond = 10;
/** More than so many that wait, in seconds of the load, are more than the workers can do: then nothing is dispatched. */
const patienceSeconds = 10;
/** Of those that were due, so many may not have been dispatched in time. */
const latest = 0.01;
const namespace = 'soak';
const constantKeys = ['pass', 'order', 'fence', 'lanes_version', 'active_owners'];

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
const taskFile = join(folder, 'tasks.mjs');
const library = new URL('../dist/index.js', import.meta.url).href;
writeFileSync(
  taskFile,
  `import { defineTask } from ${JSON.stringify(library)};
export const work = defineTask({ name: 'work', run: ({ n }) => ({ n }) });
`,
);

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
const urls = { database: postgres.url, redis: `redis://127.0.0.1:${redis.port}` };
const database = createPostgresDatabase({ connection: urls.database, connections: 1 });
const client = new Redis(urls.redis);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => interrupted.abort());
const pause = (ms) => delay(ms, undefined, { signal: interrupted.signal });
const children = [];
const say = (text) => (values.json ? process.stderr : process.stdout).write(`${text}\n`);
try {
  const report = await soak();
  if (values.json) console.log(JSON.stringify(report, null, 2));
  say(report.ok ? 'The soak is ok.' : `The soak is not ok:\n${report.problems.join('\n')}`);
  process.exitCode = report.ok ? 0 : 1;
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  say('Interrupted.');
  process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  client.disconnect();
  await database.close();
  await Promise.all([postgres.stop(), redis.stop()]);
  rmSync(folder, { recursive: true, force: true });
}

async function soak() {
  const hf = await createHoldfast({ ...urls, namespace, migrate: true });
  const connectionsBefore = await connections();
  const fleet = await Promise.all(Array.from({ length: workers }, (_, index) => startWorker(`w${index}`)));
  say(`${minutes} minutes, ${rate} tasks a second, ${workers} worker processes`);
  say('   s  dispatched  left  redis MiB  keys  connections  resident MiB of the dispatcher and each worker');
  const load = { dispatched: 0, late: 0, ended: false };
  const started = performance.now();
  const dispatching = dispatchAtRate(hf, load, started);
  dispatching.catch(() => {});
  const series = [];
  for (let sample = 1; sample <= samples; sample++) {
    await pause((durationMs / samples) * sample - (performance.now() - started));
    series.push(await look(fleet, load, started));
    if (!values.json || sample % 10 === 0) say(line(series.at(-1)));
  }
  load.ended = true;
  await dispatching;
  const leftSince = performance.now();
  while ((await tasksLeft()) > 0 && performance.now() - leftSince < 60_000) await pause(200);
  const left = await tasksLeft();
  const exits = await Promise.all(fleet.map(stopWorker));
  await hf.close();
  return judge({
    series,
    load,
    left,
    exits,
    connectionsBefore,
    seconds: (performance.now() - started) / 1_000,
  });
}

/** In ticks, at the pace of the clock; what the workers cannot keep up with is not dispatched, and counted as late. */
async function dispatchAtRate(hf, load, started) {
  const perTick = rate / ticksPerSecond;
  for (let tick = 1; !load.ended; tick++) {
    await pause((tick * 1_000) / ticksPerSecond - (performance.now() - started));
    if (tick % ticksPerSecond === 0) load.waiting = await tasksLeft();
    if ((load.waiting ?? 0) > rate * patienceSeconds) load.late += perTick;
    else {
      const requests = Array.from({ length: perTick }, (_, n) => request(load.dispatched + n));
      await hf.dispatchMany(requests);
      load.dispatched += perTick;
    }
  }
}

function request(n) {
  const name = () => `r${Math.floor(Math.random() * 10_000)}`;
  const mode = n % 2 === 0 ? { exclusive: [name()] } : { shared: [name(), name()] };
  return { name: 'work', payload: { n }, ...mode };
}

async function look(fleet, load, started) {
  const pids = [process.pid, ...fleet.map(({ child }) => child.pid)];
  const memory = /used_memory:(\d+)/.exec(await client.info('memory'));
  return {
    seconds: Math.round((performance.now() - started) / 1_000),
    dispatched: load.dispatched,
    left: await tasksLeft(),
    redisMiB: mebibytes(Number(memory[1])),
    keys: await client.dbsize(),
    connections: await connections(),
    residentMiB: pids.map(residentMiB),
  };
}

function line({ seconds, dispatched, left, redisMiB, keys, connections: open, residentMiB: resident }) {
  const cells = [
    String(seconds).padStart(4),
    String(dispatched).padStart(10),
    String(left).padStart(5),
    redisMiB.toFixed(1).padStart(9),
    String(keys).padStart(5),
    String(open).padStart(11),
    resident.map((one) => one.toFixed(0)).join(' '),
  ];
  return cells.join('  ');
}

async function judge({ series, load, left, exits, connectionsBefore, seconds }) {
  const problems = [];
  const quarter = (n) => series.slice(Math.floor((series.length * (n - 1)) / 4), (series.length * n) / 4);
  const memories = {
    Redis: (sample) => sample.redisMiB,
    ...Object.fromEntries(
      series[0].residentMiB.map((_, index) => [
        index === 0 ? 'the dispatcher' : `worker ${index}`,
        (sample) => sample.residentMiB[index],
      ]),
    ),
  };
  const growth = {};
  for (const [whose, read] of Object.entries(memories)) {
    const [before, after] = [quarter(2), quarter(4)].map((part) => mean(part.map(read)));
    growth[whose] = { secondQuarterMiB: rounded(before), lastQuarterMiB: rounded(after) };
    if (after > before * 1.1 + 16)
      problems.push(`The memory of ${whose} grew from ${before} to ${after} MiB.`);
  }
  const due = rate * (durationMs / 1_000);
  // What is on its way in the end is not counted.
  if (load.dispatched < due * (1 - latest) - rate) {
    problems.push(
      `Of ${due} tasks ${load.dispatched} were dispatched in time; of ${load.late} it was given up, since others were not done.`,
    );
  }
  if (left > 0) problems.push(`${left} tasks have not ended a minute after the last was dispatched.`);
  if (exits.some((status) => status !== 0)) problems.push(`The workers ended with ${exits.join()}.`);
  const keys = await keysLeft();
  if (keys.length > 0) problems.push(`Keys are left: ${keys.slice(0, 10).join()}`);
  const open = await connections();
  if (open > connectionsBefore) problems.push(`${open - connectionsBefore} connections are left.`);
  const { rows } = await database.query(
    `SELECT state, count(*)::int AS count FROM ${namespace}.tasks GROUP BY 1`,
  );
  const outcomes = Object.fromEntries(rows.map((row) => [row.state, row.count]));
  if (outcomes.completed !== load.dispatched)
    problems.push(`Of ${load.dispatched} tasks not all have completed.`);
  const { dispatched, late } = load;
  return {
    ...{ ok: problems.length === 0, problems, minutes, rate, workers, dispatched, late },
    ...{
      tasksASecond: rounded(dispatched / (durationMs / 1_000)),
      seconds: rounded(seconds),
      outcomes,
      growth,
    },
  };
}

async function tasksLeft() {
  // So that an index tells: the tables grow with what has ended.
  const unsettled = "state IN ('waiting', 'running', 'canceling', 'rolling_back')";
  const { rows } = await database.query(
    `SELECT count(*)::int AS left FROM ${namespace}.tasks WHERE ${unsettled}`,
  );
  return rows[0].left;
}

async function keysLeft() {
  const epoch = await client.hget(`{${namespace}}:epoch`, 'number');
  const prefix = `{${namespace}}:`;
  const keys = (await client.keys('*')).map((key) =>
    key.startsWith(prefix) ? key.slice(prefix.length) : key,
  );
  const constant = ['epoch', 'wake', ...constantKeys.map((key) => `${epoch}:${key}`)];
  return keys.filter((key) => !constant.includes(key) && !key.startsWith('turn:'));
}

async function connections() {
  const { rows } = await database.query(
    "SELECT count(*)::int AS open FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  return rows[0].open;
}

async function startWorker(name) {
  const bin = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const args = [bin, 'worker', '--tasks', taskFile, '--name', name, '--concurrency', '200'];
  const env = {
    ...process.env,
    ...{
      HOLDFAST_DATABASE_URL: urls.database,
      HOLDFAST_REDIS_URL: urls.redis,
      HOLDFAST_NAMESPACE: namespace,
    },
  };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return { child };
}

async function stopWorker({ child }) {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  return (await exited)[0];
}

function residentMiB(pid) {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kibibytes[1]) / 1_024;
}

function mebibytes(bytes) {
  return bytes / 1_048_576;
}

function mean(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

function rounded(number) {
  return Math.round(number * 10) / 10;
}
