import { createHash } from 'node:crypto';
import type { RedisValue } from 'ioredis';
import { EpochRefused, type RefusalReason } from '../lock-table.js';
import type { Connection } from './connection.js';
import { epochKey } from './keys.js';
import { asList, asWord, type Reply } from './reply.js';
import { scriptSource } from './script-source.js';
import { scriptFailure } from './unavailable.js';

/** A script of scripts/, with the one place where its arguments are encoded and its answer is decoded. */
export interface Script<Arguments, Answer> {
  readonly name: string;
  /** ARGV, without the epoch that comes first. */
  encode(given: Arguments): RedisValue[];
  decode(reply: Reply, given: Arguments): Answer;
}

interface Loaded {
  source: string;
  sha: string;
}

const refusalReasons: readonly RefusalReason[] = ['none', 'other', 'building', 'identity'];

/** Runs scripts on a connection, for one namespace. */
export class ScriptRunner {
  readonly #connection: Connection;
  readonly #key: string;
  readonly #sourceOf: (name: string) => string;
  readonly #loaded = new Map<string, Loaded>();

  constructor(connection: Connection, namespace: string, sourceOf: (name: string) => string = scriptSource) {
    this.#connection = connection;
    this.#key = epochKey(namespace);
    this.#sourceOf = sourceOf;
  }

  /** Throws EpochRefused where the script says so, ScriptFailed where it failed, Unavailable where no answer came. */
  async run<G, A>(script: Script<G, A>, epoch: string, given: G): Promise<A> {
    const reply = await this.#evaluate(script.name, [epoch, ...script.encode(given)]);
    if (reply[0] === 'refused') throw new EpochRefused(asWord(reply[1], refusalReasons), epoch);
    return script.decode(reply, given);
  }

  async #evaluate(name: string, argv: RedisValue[]): Promise<Reply> {
    const { source, sha } = this.#load(name);
    try {
      return asList(await this.#connection.send('EVALSHA', [sha, 1, this.#key, ...argv]));
    } catch (error) {
      if (!isNoScript(error)) throw scriptFailure(name, error);
    }
    // The server restarted, or its scripts were flushed: it has done nothing, and learns the script anew.
    try {
      return asList(await this.#connection.send('EVAL', [source, 1, this.#key, ...argv]));
    } catch (error) {
      throw scriptFailure(name, error);
    }
  }

  #load(name: string): Loaded {
    let loaded = this.#loaded.get(name);
    if (loaded === undefined) {
      const source = this.#sourceOf(name);
      loaded = { source, sha: createHash('sha1').update(source).digest('hex') };
      this.#loaded.set(name, loaded);
    }
    return loaded;
  }
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
