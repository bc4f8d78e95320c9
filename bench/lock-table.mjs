// Measures the lock table in Redis: enter, claim and release in batches of 100, over one connection.
//
//   npm run build && node bench/lock-table.mjs [seconds per scenario]
//
// It starts a redis-server of its own. `through` counts holds that went all the way per second; `Redis alone` is what
// one core gives to Redis: holds per second of processor time of its main thread.
import { Redis } from 'ioredis';
import { createRedisLockTable } from '../dist/locks/redis/redis-lock-table.js';
import { startRedis } from './servers.mjs';

const secondsEach = Number(process.argv[2] ?? 3);
const batch = 100;
const epoch = '1';
const owner = { name: 'bench', incarnation: '1' };
const lane = '["default","bench",{}]';

const scenarios = [
  {
    name: '1 exclusive resource each, all free',
    loops: 4,
    resources: (n) => ({ exclusive: [`r:${n}`], shared: [] }),
  },
  {
    name: '1 exclusive and 1 shared one, all free',
    loops: 4,
    resources: (n) => ({ exclusive: [`r:${n}`], shared: ['store'] }),
  },
  { name: 'no resources', loops: 4, resources: () => ({ exclusive: [], shared: [] }) },
  {
    name: '50 hot resources, queues of 1,000',
    loops: 1,
    ahead: 50_000,
    resources: (n) => ({ exclusive: [`hot:${n % 50}`], shared: [] }),
  },
  {
    name: '50 hot resources read, every tenth written',
    loops: 1,
    ahead: 50_000,
    resources: (n) =>
      n % 10 === 0
        ? { exclusive: [`hot:${(n / 10) % 50}`], shared: [] }
        : { exclusive: [], shared: [`hot:${n % 50}`] },
  },
];

const server = await startRedis();
try {
  for (const scenario of scenarios) console.log(await run(scenario));
} finally {
  await server.stop();
}

async function run(scenario) {
  const redis = new Redis(server.port);
  await redis.flushall();
  const table = createRedisLockTable({ url: `redis://127.0.0.1:${server.port}`, namespace: 'bench' });
  await table.start();
  await table.beginEpoch(epoch, 1);
  await table.openEpoch(epoch);
  await table.listOwner(epoch, owner);
  let entered = 0;
  let released = 0;
  const enterBatch = (length = batch) =>
    table.enter(
      epoch,
      '1',
      Array.from({ length }, () => hold(entered++, scenario)),
    );
  while (entered < (scenario.ahead ?? 0)) await enterBatch();
  const before = await processorSeconds(redis);
  const started = performance.now();
  const isOver = () => performance.now() - started > secondsEach * 1_000;
  const loop = async () => {
    // As many come in as went out, so that queues keep their length.
    for (let next = batch; !isOver();) {
      await enterBatch(next);
      const answer = await table.claim(epoch, { owner, lanes: [lane], limit: batch, lanesVersion: null });
      await table.release(
        epoch,
        answer.holds.map(({ task, entry }) => ({ task, entry, owner })),
      );
      next = answer.holds.length;
      released += next;
    }
  };
  await Promise.all(Array.from({ length: scenario.loops }, loop));
  const seconds = (performance.now() - started) / 1_000;
  const inside = (await processorSeconds(redis)) - before;
  await table.stop();
  redis.disconnect();
  return {
    scenario: scenario.name,
    through: Math.round(released / seconds),
    'Redis alone': Math.round(released / inside),
    'microseconds per hold': Number(((inside / released) * 1e6).toFixed(1)),
  };
}

function hold(n, scenario) {
  return { task: `t${n}`, entry: 1, lane, priority: 0, place: String(n), ...scenario.resources(n) };
}

/** Of the thread that executes commands: what else the machine does is not in it. */
async function processorSeconds(redis) {
  const stats = await redis.info('cpu');
  const [, system] = /^used_cpu_sys_main_thread:([\d.]+)/m.exec(stats);
  const [, user] = /^used_cpu_user_main_thread:([\d.]+)/m.exec(stats);
  return Number(system) + Number(user);
}
