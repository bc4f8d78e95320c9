import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { ProcessLife, Recovery } from './history.js';
import { setTimeout as delay } from 'node:timers/promises';
import { now } from './clock.js';

const everyMs = 100;

/** Looks, by connections of its own, which processes are registered, and until when a killed one has anything. */
export class Watching {
  readonly recoveries: Recovery[] = [];
  /** Tasks that were not final when it last looked. */
  unsettled: number = 0;
  readonly #lives: ProcessLife[];
  readonly #pool: pg.Pool;
  readonly #redis: Redis;
  readonly #namespace: string;
  readonly #ending = new AbortController();
  #round: Promise<void> = Promise.resolve();

  constructor(lives: ProcessLife[], pool: pg.Pool, redis: Redis, namespace: string) {
    this.#lives = lives;
    this.#pool = pool;
    this.#redis = redis;
    this.#namespace = namespace;
  }

  start(): void {
    this.#round = this.#go();
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#round;
  }

  async #go(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#look().catch(() => {});
      await delay(everyMs, undefined, { signal: this.#ending.signal }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const { rows } = await this.#pool.query<{ incarnation: string; pid: number; name: string }>(
      `SELECT incarnation::text, pid, name FROM "${this.#namespace}".workers`,
    );
    await this.#count();
    for (const { incarnation, pid, name } of rows) {
      const life = this.#lives.find((one) => one.pid === pid && one.name === name);
      if (life !== undefined) life.incarnation = incarnation;
    }
    for (const life of this.#lives) {
      const { killedAt, incarnation, name } = life;
      if (killedAt === null || incarnation === null) continue;
      let recovery = this.recoveries.find((one) => one.incarnation === incarnation);
      if (recovery?.freeAt !== undefined && recovery.freeAt !== null) continue;
      const held = await this.#heldBy(name, incarnation);
      if (recovery === undefined) {
        recovery = { process: name, incarnation, killedAt, held, freeAt: null };
        this.recoveries.push(recovery);
      }
      recovery.held = Math.max(recovery.held, held);
      if (held === 0) recovery.freeAt = now();
    }
  }

  async #count(): Promise<void> {
    const { rows } = await this.#pool.query<{ unsettled: number }>(
      `SELECT count(*)::int AS unsettled FROM "${this.#namespace}".tasks
       WHERE state IN ('waiting', 'running', 'canceling', 'rolling_back')`,
    );
    this.unsettled = rows[0]!.unsettled;
  }

  /** Tasks of its in PostgreSQL, and holds of its in the lock table. */
  async #heldBy(name: string, incarnation: string): Promise<number> {
    const { rows } = await this.#pool.query<{ held: number }>(
      `SELECT count(*)::int AS held FROM "${this.#namespace}".tasks
       WHERE worker = $1 AND state IN ('running', 'canceling', 'rolling_back')`,
      [incarnation],
    );
    const redis = this.#redis;
    const epoch = await redis.hget(`{${this.#namespace}}:epoch`, 'number');
    const registry = `{${this.#namespace}}:${epoch}:owner_locks:${name}:${incarnation}`;
    return Math.max(rows[0]!.held, await redis.zcard(registry));
  }
}
