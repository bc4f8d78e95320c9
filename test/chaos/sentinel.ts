import { Redis } from 'ioredis';
import { startRedisSentinel, type RedisSentinel } from '../helpers/redis-sentinel.js';
import { startRedis, type RedisServer } from '../helpers/redis-server.js';
import { waitUntil } from '../helpers/wait-until.js';

/** A master, a replica and a Sentinel. The one that is killed comes back as the replica of the other. */
export class SentinelRedis {
  readonly #sentinel: RedisSentinel;
  #nodes: RedisServer[];
  #master: number;

  private constructor(sentinel: RedisSentinel) {
    this.#sentinel = sentinel;
    this.#nodes = [sentinel.master, sentinel.replica];
    this.#master = 0;
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

  get masterUrl(): string {
    return this.#nodes[this.#master]!.url;
  }

  /** What the replica has not been sent yet is lost. */
  async failOver(downMs: () => Promise<void>): Promise<void> {
    const before = this.#master;
    const after = 1 - before;
    await waitUntil(() => isLinked(this.#nodes[after]!.url), 'the replica is linked', 30_000);
    const { port } = this.#nodes[before]!;
    this.#nodes[before]!.kill('SIGKILL');
    await this.#nodes[before]!.exited;
    await waitUntil(
      async () => (await roleOf(this.#nodes[after]!.url)) === 'master',
      'the replica is the master',
      30_000,
    );
    this.#master = after;
    await downMs();
    await this.#nodes[before]!.stop();
    this.#nodes[before] = await startRedis({
      port,
      args: ['--replicaof', `127.0.0.1 ${this.#nodes[after]!.port}`],
    });
  }

  freeze(): void {
    this.#nodes[this.#master]!.kill('SIGSTOP');
  }

  thaw(): void {
    for (const node of this.#nodes) node.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await this.#sentinel.stop();
  }
}

async function isLinked(url: string): Promise<boolean> {
  return (await replicationOf(url)).includes('master_link_status:up');
}

async function roleOf(url: string): Promise<string | undefined> {
  return /role:(\w+)/.exec(await replicationOf(url))?.[1];
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
