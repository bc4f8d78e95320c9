import type pg from 'pg';
import type { Dispatch } from './history.js';
import type { Operation } from './workload.js';
import { now } from './clock.js';

type Order = Extract<Operation, { kind: 'dispatch' }>;

/** Dispatches by plain SQL, in transactions of its own, and remembers what it was told about each. */
export class Dispatching {
  readonly dispatches: Dispatch[] = [];
  readonly #byNumber = new Map<number, Dispatch>();
  readonly #pool: pg.Pool;
  readonly #namespace: string;

  constructor(pool: pg.Pool, namespace: string) {
    this.#pool = pool;
    this.#namespace = namespace;
  }

  /** Never rejects: what is not known is `unknown`. */
  async dispatch(order: Order): Promise<void> {
    const dispatch = this.#begin(order);
    const client = await this.#pool.connect().catch(() => null);
    if (client === null) return;
    let broken = true;
    try {
      dispatch.begunAt = now();
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>(
        `SELECT "${this.#namespace}".dispatch($1, $2, $3, $4, $5, $6,
           CASE WHEN $7::int > 0 THEN now() + $7::int * interval '1 ms' END) AS id`,
        [
          order.name,
          order.payload,
          order.exclusive,
          order.shared,
          order.queue,
          order.priority,
          order.delayMs,
        ],
      );
      const { id } = rows[0]!;
      const placed = await client.query<{ place: string }>(
        `SELECT place FROM "${this.#namespace}".tasks WHERE id = $1`,
        [id],
      );
      dispatch.id = id;
      dispatch.place = isJudged(order) ? placed.rows[0]!.place : null;
      await this.#end(client, dispatch, order.undone);
      broken = false;
    } catch {
      // The server rolls back what was not committed.
    } finally {
      client.release(broken);
    }
  }

  /** Of the task that the operation of this number has dispatched, if it is known by now. */
  idOf(number: number): string | null {
    return this.#byNumber.get(number)?.id ?? null;
  }

  /** By another process, which tells no place. */
  dispatchedElsewhere(number: number, id: string, order: Extract<Operation, { kind: 'immediate' }>): void {
    const { name, queue, payload } = order;
    const { exclusive, shared } = payload;
    const known = { id, place: null, begunAt: now(), committedAt: now(), outcome: 'committed' as const };
    const dispatch: Dispatch = { number, name, queue, exclusive, shared, ...known };
    this.dispatches.push(dispatch);
    this.#byNumber.set(number, dispatch);
  }

  #begin({ number, name, queue, payload }: Order): Dispatch {
    const { exclusive, shared } = payload;
    const nothing = { id: null, place: null, begunAt: now(), committedAt: null, outcome: 'absent' as const };
    const dispatch: Dispatch = { number, name, queue, exclusive, shared, ...nothing };
    this.dispatches.push(dispatch);
    this.#byNumber.set(number, dispatch);
    return dispatch;
  }

  async #end(client: pg.PoolClient, dispatch: Dispatch, undone: boolean): Promise<void> {
    if (undone) {
      await client.query('ROLLBACK');
      return;
    }
    dispatch.outcome = 'unknown';
    await client.query('COMMIT');
    dispatch.committedAt = now();
    dispatch.outcome = 'committed';
  }
}

/** Those whose place may change before they first run, or who name their resources later, are not. */
function isJudged({ queue, delayMs, name }: Order): boolean {
  return queue === 'default' && delayMs === 0 && name !== 'chaos.computes';
}
