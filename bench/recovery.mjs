// Measures how soon what a killed worker held is free, and how soon the task behind it starts.
//
//   npm run bench:recovery [-- --ttl 3,15 --workers 2,10,50 --kills 20]
//
// On a PostgreSQL and a Redis of its own, with worker processes of the command line. Each round kills a half of the
// fleet at once, so those that observe are among the killed, and starts as many new ones under other names.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createHoldfast } from '../dist/index.js';
import { startPostgres, startRedis } from './servers.mjs';

const { values } = parseArgs({
  options: {
    ttl: { type: 'string', default: '3,15' },
    workers: { type: 'string', default: '2,10,50' },
    kills: { type: 'string', default: '20' },
  },
});
const numbers = (text) => text.split(',').map(Number);
const kills = Number(values.kills);
const bin = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const library = new URL('../dist/index.js', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
const taskFile = join(folder, 'tasks.mjs');
writeFileSync(
  taskFile,
  `import { defineTask } from ${JSON.stringify(library)};
export const hold = defineTask({ name: 'hold', run: () => new Promise(() => setInterval(() => {}, 60_000)) });
export const next = defineTask({ name: 'next', run: () => {} });
`,
);

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
const urls = { database: postgres.url, redis: `redis://127.0.0.1:${redis.port}` };
try {
  console.log('TTL s  workers  kills  free p50 s  free max s  next p50 s  next max s  bound s');
  for (const ttl of numbers(values.ttl)) {
    for (const workers of numbers(values.workers))
      console.log(row(ttl, workers, await measure(ttl, workers)));
  }
} finally {
  await Promise.all([postgres.stop(), redis.stop()]);
  rmSync(folder, { recursive: true, force: true });
}

async function measure(ttl, size) {
  const namespace = `b_${ttl}_${size}`;
  const hf = await createHoldfast({ ...urls, namespace, migrate: true });
  const fleet = new Map();
  const figures = [];
  let names = 0;
  try {
    while (figures.length < kills) {
      while (fleet.size < size) {
        const batch = Array.from({ length: Math.min(8, size - fleet.size) }, () => `w${names++}`);
        const started = await Promise.all(batch.map((name) => startWorker(namespace, name, ttl)));
        for (const worker of started) fleet.set(worker.name, worker);
      }
      const count = Math.min(Math.max(1, Math.floor(size / 2)), kills - figures.length);
      figures.push(...(await killSome(hf, fleet, count)));
    }
  } finally {
    await Promise.all([...fleet.values()].map(stopWorker));
    await hf.close();
  }
  return figures;
}

/** Kills workers that hold something each, and resolves with what was measured for each. */
async function killSome(hf, fleet, count) {
  const holders = new Map();
  while (holders.size < count) {
    const resource = `r${Math.random()}`;
    const { id } = await hf.dispatch('hold', null, { exclusive: [resource] });
    const task = await until(async () => {
      const seen = await hf.tasks.get(id);
      return seen.state === 'running' ? seen : null;
    });
    const { name } = task.worker;
    if (holders.has(name) || holders.size >= count) await hf.tasks.cancel(id);
    else holders.set(name, { id, resource });
  }
  for (const holder of holders.values()) {
    holder.next = (await hf.dispatch('next', null, { exclusive: [holder.resource] })).id;
  }
  await delay(1_000);
  const killedAt = Date.now();
  for (const name of holders.keys()) fleet.get(name).child.kill('SIGKILL');
  for (const name of holders.keys()) fleet.delete(name);
  return Promise.all([...holders.values()].map((holder) => watch(hf, holder, killedAt)));
}

async function watch(hf, { id, resource, next }, killedAt) {
  await until(async () => {
    const { locks } = await hf.locks.list({ resource });
    return locks.every(({ holders }) => holders.every(({ task }) => task !== id));
  });
  const free = Date.now() - killedAt;
  const started = await until(async () => (await hf.tasks.get(next)).startedAt);
  return { free, next: Date.parse(started) - killedAt };
}

async function startWorker(namespace, name, ttl) {
  const args = ['worker', '--tasks', taskFile, '--name', name, '--ttl', `${ttl}s`, '--concurrency', '4'];
  const env = {
    ...process.env,
    HOLDFAST_DATABASE_URL: urls.database,
    HOLDFAST_REDIS_URL: urls.redis,
    HOLDFAST_NAMESPACE: namespace,
  };
  const child = spawn(process.execPath, [bin, ...args, '--grace', '0s'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  const ready = once(child.stdout, 'data').then(() => true);
  if (await Promise.race([ready, once(child, 'close').then(() => false)])) return { name, child };
  // Where so many start on few cores, one may have no time to beat.
  console.error(`${name} did not start, and is started again: ${log}`);
  return startWorker(namespace, name, ttl);
}

async function stopWorker({ child }) {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function until(look) {
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    await delay(20);
  }
}

function row(ttl, workers, figures) {
  const of = (key) => figures.map((figure) => figure[key] / 1_000).sort((a, b) => a - b);
  const cells = ['free', 'next'].flatMap((key) => {
    const sorted = of(key);
    return [sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)].map((s) => s.toFixed(2).padStart(11));
  });
  const bound = (ttl + 5).toFixed(2).padStart(8);
  return `${String(ttl).padStart(5)}${String(workers).padStart(9)}${String(figures.length).padStart(7)}${cells.join(' ')}${bound}`;
}
