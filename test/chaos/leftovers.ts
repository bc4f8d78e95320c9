import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { RunningSystem } from './system.js';
import { waitUntil } from '../helpers/wait-until.js';
import { processesWith } from './processes.js';

/** What an empty table keeps: see src/locks/README.md, "Keys". */
const constantKeys = new Set(['pass', 'order', 'fence', 'lanes_version', 'active_owners']);
/** For what is done in the background, and for connections to be seen closed. */
const limitMs = 20_000;

/** What there still is when nobody is there any more, as sentences. */
export async function findLeftovers(system: RunningSystem): Promise<string[]> {
  let left: string[] = [];
  const nothing = async (): Promise<boolean> => {
    left = await look(system);
    return left.length === 0;
  };
  await waitUntil(nothing, 'nothing is left', limitMs).catch((error: unknown) => {
    if (left.length === 0) left = [`It could not be seen what is left: ${String((error as Error).cause)}`];
  });
  return left;
}

async function look({ pool, direct, namespace, mark }: RunningSystem): Promise<string[]> {
  const processes = processesWith('CHAOS_MARK', mark).map((pid) => `Process ${pid} is left.`);
  const inRedis = [...(await keysLeft(direct, namespace)), ...(await connectionsLeft(direct))];
  return [...processes, ...inRedis, ...(await rowsLeft(pool, namespace))];
}

async function keysLeft(redis: Redis, namespace: string): Promise<string[]> {
  const prefix = `{${namespace}}:`;
  const epoch = await redis.hget(`${prefix}epoch`, 'number');
  const isConstant = (key: string): boolean =>
    key === `${prefix}epoch` ||
    key === `${prefix}wake` ||
    key.startsWith(`${prefix}turn:`) ||
    (key.startsWith(`${prefix}${epoch}:`) && constantKeys.has(key.slice(`${prefix}${epoch}:`.length)));
  const left = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
    cursor = next;
    left.push(...keys.filter((key) => !isConstant(key)).map((key) => `Key ${key} is left.`));
  } while (cursor !== '0');
  const owners = await redis.zrange(`${prefix}${epoch}:active_owners`, '0', '-1');
  return [...left, ...owners.map((owner) => `Owner ${owner} is still listed.`)];
}

/** But for the harness, and the replicas and Sentinels that servers have. */
async function connectionsLeft(redis: Redis): Promise<string[]> {
  const own = String(await redis.client('ID'));
  const list = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'normal'));
  return list
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(`id=${own} `) && !/ name=sentinel/.test(line))
    .map((line) => `A connection to Redis is left: ${line}`);
}

async function rowsLeft(pool: pg.Pool, namespace: string): Promise<string[]> {
  const workers = await pool.query<{ name: string; incarnation: string }>(
    `SELECT name, incarnation::text FROM "${namespace}".workers`,
  );
  const marked = await pool.query<{ id: string }>(
    `SELECT id FROM "${namespace}".tasks WHERE take_out IS NOT NULL OR requester IS NOT NULL`,
  );
  const sessions = await pool.query<{ application_name: string; query: string }>(
    `SELECT application_name, query FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND application_name <> 'chaos'`,
  );
  return [
    ...workers.rows.map(
      ({ name, incarnation }) => `The row of worker ${name}, incarnation ${incarnation}, is left.`,
    ),
    ...marked.rows.map(({ id }) => `Task ${id} is a lock, or is still to be taken out.`),
    ...sessions.rows.map(
      ({ application_name, query }) => `A session is left (${application_name}): ${query}`,
    ),
  ];
}
