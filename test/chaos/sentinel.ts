import { Redis } from 'ioredis';
import { startRedisSentinel, type RedisSentinel } from '../helpers/redis-sentinel.js';
import { startRedis, type RedisServer } from '../helpers/redis-server.js';
import { waitUntil } from '../helpers/wait-until.js';
import { patience, quiet } from './servers.js';

/** A master, a replica and a Sentinel. The one that is killed comes back as the replica of the other. */
export class SentinelRedis {
  readonly #sentinel: RedisSentinel;
  readonly #nodes: RedisServer[];

  private constructor(sentinel: RedisSentinel) {
    this.#sentinel = sentinel;
    this.#nodes = [sentinel.master, sentinel.replica];
  }

  static async start(): Promise<SentinelRedis> {
    return new SentinelRedis(await startRedisSentinel());
  }

  get url(): string {
    return this.#sentinel.url;
  }

  get ports(): number[] {
    return this.#nodes.map(({ port }) => port);
  }

  /** To whichever is the master; past every proxy. */
  connect(): Redis {
    const { hostname: host, port, pathname } = new URL(this.url);
    const sentinels = [{ host, port: Number(port) }];
    const reconnectOnError = (error: Error): boolean => error.message.startsWith('READONLY');
    return quiet(new Redis({ ...patience, sentinels, name: pathname.slice(1), reconnectOnError }));
  }

  /** What the replica has not been sent yet is lost. */
  async failOver(downMs: () => Promise<void>): Promise<void> {
    const [before, after] = await waitUntil(
      () => this.#whole(),
      'there are a master and its replica',
      60_000,
    );
    const { port } = this.#nodes[before]!;
    this.#nodes[before]!.kill('SIGKILL');
    await this.#nodes[before]!.exited;
    const { url, port: masterPort } = this.#nodes[after]!;
    let promoted = false;
    try {
      await waitUntil(async () => isMaster(await replicationOf(url)), 'the replica is the master', 60_000);
      promoted = true;
      await downMs();
    } finally {
      // Where the Sentinel did not do its part, the one that it still takes for the master comes back, empty.
      const following = promoted ? ['--replicaof', `127.0.0.1 ${masterPort}`] : [];
      await this.#nodes[before]!.stop();
      this.#nodes[before] = await startRedis({ port, args: following });
    }
  }

  /** The master alone: the Sentinel fails over meanwhile, and makes it a replica once it is awake. */
  async freeze(): Promise<void> {
    const said = await Promise.all(this.#nodes.map(({ url }) => replicationOf(url)));
    this.#nodes[Math.max(said.findIndex(isMaster), 0)]!.kill('SIGSTOP');
  }

  thaw(): void {
    for (const node of this.#nodes) node.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await this.#sentinel.stop();
  }

  /** Which is the master, and which one follows it. Throws while they do not agree. */
  async #whole(): Promise<[number, number]> {
    const said = await Promise.all(this.#nodes.map(({ url }) => replicationOf(url)));
    const master = said.findIndex(isMaster);
    const replica = said.findIndex((text) => text.includes('master_link_status:up'));
    if (master === -1 || replica === -1) throw new Error(said.map(roleOf).join('; '));
    return [master, replica];
  }
}

function roleOf(replication: string): string {
  const told = /^(role|master_host|master_port|master_link_status|connected_slaves):/;
  return replication
    .split('\r\n')
    .filter((line) => told.test(line))
    .join(', ');
}

function isMaster(replication: string): boolean {
  return replication.includes('role:master');
}

async function replicationOf(url: string): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.info('replication');
  } finally {
    redis.disconnect();
  }
}
