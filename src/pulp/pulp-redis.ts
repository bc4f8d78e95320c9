import type { RedisValue } from 'ioredis';
import { NotConfigured } from '../errors.js';
import type { Logger } from '../log.js';
import { Connection } from '../locks/redis/connection.js';
import { asList, asNumber, asText, asTexts } from '../locks/redis/reply.js';
import { parseServerUrl } from '../locks/redis/server-url.js';
import { scriptFailure } from '../locks/redis/unavailable.js';
import { activeOwnersKey } from './keys.js';
import type { ScriptCall } from './scripts.js';

const commandLimitMs = 5_000;

/** What is read of a set or of the keyspace in one call. */
const perCall = 1_000;

/** A set of up to so many is read in one piece, in a few milliseconds. */
const smallSet = 5_000;

/** pulpcore's Redis: each command once, bounded in time and short. Throws Unavailable where no answer comes. */
export class PulpRedis {
  readonly #connection: Connection;

  constructor(url: string, log: Logger) {
    const address = parseServerUrl(url);
    if (address.kind === 'cluster') {
      throw new NotConfigured("pulpcore's keys are spread over hash slots: its Redis cannot be a Cluster.");
    }
    this.#connection = new Connection({ address, key: activeOwnersKey, commandLimitMs, log });
  }

  async connect(): Promise<void> {
    await this.#connection.connectedPatiently();
  }

  close(): void {
    this.#connection.close();
  }

  /** The members of a set, in parts; none where there is no such key. Throws UnexpectedType where it is no set. */
  async *membersOf(key: string): AsyncGenerator<string[]> {
    const size = asNumber(await this.#send('SCARD', key));
    if (size > 0 && size <= smallSet) yield asTexts(await this.#send('SMEMBERS', key));
    if (size <= smallSet) return;
    let cursor = '0';
    do {
      const [next, members] = asList(await this.#send('SSCAN', key, cursor, 'COUNT', perCall));
      yield asTexts(members);
      cursor = asText(next);
    } while (cursor !== '0');
  }

  async isMember(key: string, member: string): Promise<boolean> {
    return asNumber(await this.#send('SISMEMBER', key, member)) === 1;
  }

  /** The keys that match, in parts; one may come twice. This goes over the whole keyspace. */
  async *scanKeys(pattern: string): AsyncGenerator<string[]> {
    let cursor = '0';
    do {
      const [next, keys] = asList(await this.#send('SCAN', cursor, 'MATCH', pattern, 'COUNT', perCall));
      yield asTexts(keys);
      cursor = asText(next);
    } while (cursor !== '0');
  }

  /** Writes a key that expires, unless it is there. Resolves with whether it was written. */
  async setUnlessThere(key: string, value: string, seconds: number): Promise<boolean> {
    return (await this.#send('SET', key, value, 'NX', 'EX', seconds)) === 'OK';
  }

  /** In milliseconds; null where there is no such key, infinity where it never expires. */
  async expiryOf(key: string): Promise<number | null> {
    const ms = asNumber(await this.#send('PTTL', key));
    if (ms === -2) return null;
    return ms === -1 ? Number.POSITIVE_INFINITY : ms;
  }

  /** The server's clock, in seconds since 1970. */
  async now(): Promise<string> {
    return asText(asList(await this.#connection.sendOrUnavailable('TIME', []))[0]);
  }

  async run<Answer>({ script, keys, argv, decode }: ScriptCall<Answer>): Promise<Answer> {
    const rest = [keys.length, ...keys, ...argv];
    try {
      return decode(await this.#connection.send('EVALSHA', [script.sha, ...rest]));
    } catch (error) {
      if (!isNoScript(error)) throw scriptFailure(script.name, error);
    }
    // The server does not know the script, and so has done nothing.
    try {
      return decode(await this.#connection.send('EVAL', [script.source, ...rest]));
    } catch (error) {
      throw scriptFailure(script.name, error);
    }
  }

  async #send(command: string, key: string, ...args: RedisValue[]): Promise<unknown> {
    try {
      return await this.#connection.sendOrUnavailable(command, [key, ...args]);
    } catch (error) {
      throw isWrongType(error) ? new UnexpectedType(key) : error;
    }
  }
}

/** The key is there, with a value that pulpcore does not give to it. */
export class UnexpectedType extends Error {
  constructor(key: string) {
    super(`The key ${key} has a value of an unexpected type.`);
  }
}

function isWrongType(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message.startsWith('WRONGTYPE');
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
