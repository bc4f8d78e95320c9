import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { requireProgram } from './programs.js';
import { startRedis, type RedisServer } from './redis-server.js';
import { freePort } from './server-process.js';
import { waitUntil } from './wait-until.js';

const run = promisify(execFile);

export interface RedisCluster {
  /** All masters, as a `redis+cluster://` URL. */
  url: string;
  masters: RedisServer[];
  stop(): Promise<void>;
}

/** Starts a real Cluster of three masters without replicas; each serves a third of the hash slots. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const masters: RedisServer[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(masters.map((master) => master.stop())));
  try {
    while (masters.length < 3) {
      const args = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())];
      masters.push(await startRedis({ args }));
    }
    const hosts = masters.map(({ port }) => `127.0.0.1:${port}`);
    await run(requireProgram('redis-cli'), ['--cluster', 'create', ...hosts, '--cluster-yes']);
    for (const master of masters) await waitUntil(() => isWhole(master), 'every master knows all others');
    return { url: `redis+cluster://${hosts.join(',')}`, masters, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Until a master has heard of the others' slots, it refuses its own. */
async function isWhole({ port }: RedisServer): Promise<boolean> {
  const { stdout } = await run(requireProgram('redis-cli'), ['-p', String(port), 'CLUSTER', 'INFO']);
  return stdout.includes('cluster_state:ok');
}
