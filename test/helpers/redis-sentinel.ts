import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { requireProgram } from './programs.js';
import { startRedis, type RedisServer } from './redis-server.js';
import { startServerProcess, temporaryFolder, withFreePort, type ServerProcess } from './server-process.js';
import { waitUntil } from './wait-until.js';

export interface RedisSentinel {
  /** A `redis+sentinel://` URL. */
  url: string;
  master: RedisServer;
  replica: RedisServer;
  stop(): Promise<void>;
}

const masterName = 'main';

/** Starts a master, its replica, and one Sentinel that fails over within seconds. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const [master, replica] = await Promise.all([startRedis(), startRedis()]);
  const follower = new Redis(replica.url);
  await follower.call('REPLICAOF', '127.0.0.1', String(master.port));
  const isLinked = async (): Promise<boolean> =>
    (await follower.info('replication')).includes('master_link_status:up');
  await waitUntil(isLinked, 'the replica is linked');
  follower.disconnect();
  const { port, server } = await withFreePort((free) => startOn(free, master.port));
  await waitUntil(() => knowsReplica(port), 'the Sentinel knows the replica');
  const stop = async (): Promise<void> => {
    await server.stop();
    await Promise.all([master.stop(), replica.stop()]);
  };
  return { url: `redis+sentinel://127.0.0.1:${port}/${masterName}`, master, replica, stop };
}

async function startOn(port: number, masterPort: number): Promise<{ port: number; server: ServerProcess }> {
  const dir = temporaryFolder('sentinel');
  const config = join(dir, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 2000`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const server = await startServerProcess({
    program: requireProgram('redis-server'),
    args: [config, '--sentinel'],
    dir,
    stopSignal: 'SIGTERM',
    ready: () => answers(port, ['PING']).then(Boolean),
  });
  return { port, server };
}

async function knowsReplica(port: number): Promise<boolean> {
  const replicas = (await answers(port, ['SENTINEL', 'REPLICAS', masterName])) as unknown[];
  return replicas.length > 0;
}

async function answers(port: number, [command = '', ...args]: string[]): Promise<unknown> {
  const redis = new Redis({ port, lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(command, args);
  } finally {
    redis.disconnect();
  }
}
