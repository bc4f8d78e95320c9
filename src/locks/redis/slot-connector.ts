import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import type { Host } from './server-url.js';
import { backoff } from './backoff.js';
import { AbstractConnector, Redis } from './ioredis.js';

type Constructor = NonNullable<RedisOptions['Connector']>;

/**
 * Connects to the Cluster node that serves one key. All keys of a namespace share a hash slot, so one node serves
 * them all, and a plain connection to it does: no command is ever redirected, and none is sent again behind its
 * caller's back. When the slot moves, the node answers MOVED, and the next connection goes to the other node.
 */
export function slotConnectorOf(nodes: Host[], key: string): Constructor {
  return class SlotConnector extends AbstractConnector {
    readonly #options: RedisOptions;
    #ended = new AbortController();

    constructor(options: unknown) {
      super((options as RedisOptions).disconnectTimeout ?? 0);
      this.#options = options as RedisOptions;
    }

    async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
      this.connecting = true;
      this.#ended = new AbortController();
      for (let attempt = 1; ; attempt++) {
        const { host, error } = await findNode(nodes, key, this.#options);
        if (!this.connecting) throw new Error('Connection is closed.');
        if (host) return this.#open(host);
        emit('error', error);
        await delay(backoff(attempt), undefined, { signal: this.#ended.signal }).catch(() => {});
        if (!this.connecting) throw new Error('Connection is closed.');
      }
    }

    override disconnect(): void {
      super.disconnect();
      this.#ended.abort();
    }

    #open(host: Host): Socket {
      const { tls } = this.#options;
      const stream = tls ? connectTls({ ...tls, ...host }) : connectTcp(host);
      stream.once('error', (error) => (this.firstError = error));
      this.stream = stream;
      return stream;
    }
  };
}

type Found = { host: Host; error?: undefined } | { host?: undefined; error: Error };

/** Asks the nodes in turn until one of them tells. */
async function findNode(nodes: Host[], key: string, options: RedisOptions): Promise<Found> {
  let error = new Error('No node of the Cluster was named.');
  for (const node of nodes) {
    try {
      return { host: await askNode(node, key, options) };
    } catch (failure) {
      error = failure instanceof Error ? failure : new Error(String(failure));
    }
  }
  return { error };
}

async function askNode(node: Host, key: string, options: RedisOptions): Promise<Host> {
  const { username, password, tls, connectTimeout, commandTimeout } = options;
  const redis = new Redis({
    ...node,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    ...{ connectTimeout, commandTimeout, lazyConnect: true, retryStrategy: null, enableReadyCheck: false },
  });
  let cause: unknown;
  redis.on('error', (error: unknown) => (cause = error));
  try {
    await redis.connect();
    const slot = Number(await redis.call('CLUSTER', 'KEYSLOT', key));
    return serverOfSlot(await redis.call('CLUSTER', 'SLOTS'), slot, node);
  } catch (error) {
    throw cause instanceof Error ? cause : error;
  } finally {
    redis.disconnect();
  }
}

/** From the answer to CLUSTER SLOTS: first slot, last slot, then the master, then its replicas. */
function serverOfSlot(ranges: unknown, slot: number, asked: Host): Host {
  for (const [first, last, [host, port]] of ranges as [number, number, [string | null, number]][]) {
    // A node that does not know its own address gives none: it is where it was reached.
    if (first <= slot && slot <= last) return { host: host || asked.host, port };
  }
  throw new Error(`CLUSTERDOWN No node of the Cluster serves hash slot ${slot}.`);
}
