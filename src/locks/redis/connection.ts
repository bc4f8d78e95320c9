import type { Redis as Client, RedisOptions, RedisValue } from 'ioredis';
import { Unavailable } from '../../errors.js';
import type { Logger } from '../../log.js';
import { backoff } from './backoff.js';
import { Redis } from './ioredis.js';
import type { ServerAddress } from './server-url.js';
import { slotConnectorOf } from './slot-connector.js';
import { isForAnotherServer, isSilence, unavailable } from './unavailable.js';
import { withinLimit } from './within-limit.js';

export interface ConnectionSettings {
  address: ServerAddress;
  /** Any key of the namespace: it tells the Cluster node that serves all of them. */
  key: string;
  commandLimitMs: number;
  log: Logger;
}

const keepAliveMs = 10_000;

/** How many times as long as a command a first connection may take while no attempt has failed. */
const slowStartFactor = 4;

/**
 * One connection to the server of the namespace. Commands are bounded in time, are never queued while there is no
 * connection, and never sent twice by themselves: each of these would execute a command that its caller has given
 * up on, later and unnoticed. After a lost connection it connects again by itself.
 */
export class Connection {
  readonly redis: Client;
  readonly #limitMs: number;
  #lastError: unknown;
  #closed = false;

  constructor({ address, key, commandLimitMs, log }: ConnectionSettings, special: RedisOptions = {}) {
    this.#limitMs = commandLimitMs;
    this.redis = new Redis({
      ...address.options,
      ...optionsFor(commandLimitMs),
      ...(address.kind === 'cluster' ? { Connector: slotConnectorOf(address.nodes, key) } : {}),
      ...special,
      replyMapping: 'legacy',
    });
    let lost = false;
    this.redis.on('error', (error: unknown) => {
      // Closed while it connected: nothing is lost.
      if (this.#closed) return;
      this.#lastError = error;
      if (!lost) log.warn({ err: error }, 'The connection to Redis was lost or cannot be made.');
      lost = true;
    });
    // The library gives up for good when it is told to reconnect while it connects; only `close` may be final.
    this.redis.on('end', () => {
      if (this.#closed || this.redis.options.retryStrategy === null) return;
      setTimeout(() => this.#connect(), backoff(1));
    });
    this.redis.on('ready', () => {
      if (lost) log.info({}, 'Redis is connected again.');
      lost = false;
    });
  }

  /** Resolves once commands can be sent; rejects with Unavailable when that takes too long, or `signal` aborts. */
  async connected(limitMs: number = this.#limitMs, signal?: AbortSignal): Promise<void> {
    const { redis } = this;
    if (redis.status === 'ready') return;
    if (this.#closed) throw new Unavailable('The lock table was stopped.');
    if (redis.status === 'wait') this.#connect();
    if (await becomesReady(redis, limitMs, signal)) return;
    const cause = this.#lastError;
    const why = cause instanceof Error ? cause.message : 'no connection came about in time';
    throw new Unavailable(`Redis cannot be reached: ${why}.`, { cause });
  }

  /** The same for the first time: more patient as long as nothing has failed, for a process that is busy starting. */
  async connectedPatiently(): Promise<void> {
    try {
      await this.connected();
    } catch (error) {
      if (this.#lastError !== undefined) throw error;
      await this.connected(slowStartFactor * this.#limitMs);
    }
  }

  /** Sends one command that may take as long as it likes. Rejects with what the server or the network said. */
  sendUnlimited(command: string, args: RedisValue[]): Promise<unknown> {
    return this.redis.call(command, args);
  }

  /** Sends one command. Rejects with what the server or the network said, or with Silence. */
  async send(command: string, args: RedisValue[]): Promise<unknown> {
    try {
      return await withinLimit(this.sendUnlimited(command, args), this.#limitMs);
    } catch (error) {
      this.#replaceIfSilent(error);
      throw error;
    }
  }

  /** The same, but rejects with Unavailable. */
  async sendOrUnavailable(command: string, args: RedisValue[]): Promise<unknown> {
    try {
      return await this.send(command, args);
    } catch (error) {
      throw unavailable(`answer ${command}`, error);
    }
  }

  /** Closes the connection for good. What waits for an answer is rejected. */
  close(): void {
    this.#closed = true;
    this.redis.disconnect();
  }

  #connect(): void {
    // A failure is told by the event `error`, and tried again.
    if (!this.#closed) this.redis.connect().catch(() => {});
  }

  /** A connection that does not answer may be half-open, and then never fails by itself: another one is made. */
  #replaceIfSilent(error: unknown): void {
    if (isSilence(error) && this.redis.status === 'ready') this.redis.disconnect(true);
  }
}

function becomesReady(redis: Client, limitMs: number, signal?: AbortSignal): Promise<boolean> {
  if (redis.status === 'ready') return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (ready: boolean): void => {
      clearTimeout(timer);
      redis.off('ready', onReady);
      redis.off('end', onEnd);
      signal?.removeEventListener('abort', onEnd);
      resolve(ready);
    };
    const onReady = (): void => settle(true);
    const onEnd = (): void => settle(false);
    const timer = setTimeout(onEnd, limitMs);
    redis.once('ready', onReady);
    redis.once('end', onEnd);
    signal?.addEventListener('abort', onEnd);
  });
}

function optionsFor(commandLimitMs: number): RedisOptions {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Whatever awaits an answer fails as soon as the connection is lost.
    maxRetriesPerRequest: 0,
    // Of what the library sends by itself, when it connects.
    commandTimeout: slowStartFactor * commandLimitMs,
    sentinelCommandTimeout: commandLimitMs,
    connectTimeout: commandLimitMs,
    disconnectTimeout: 100,
    keepAlive: keepAliveMs,
    retryStrategy: backoff,
    sentinelRetryStrategy: backoff,
    reconnectOnError: isForAnotherServer,
    disableClientInfo: true,
  };
}
