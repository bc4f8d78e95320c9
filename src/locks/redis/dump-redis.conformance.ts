import type { Redis } from 'ioredis';
import type { HoldDump, TableDump } from '../table-dump.js';
import { admissionWakeKey, epochKey, keyNames, keyspacePrefix, laneWakeKey } from './keys.js';
import { unpackNames } from './scripts/hold-arguments.js';

type KeyName = keyof typeof keyNames;

/** The whole keyspace of one epoch, read key by key. A key that belongs to no table makes it throw. */
export async function dumpRedis(redis: Redis, namespace: string, epoch: string): Promise<TableDump> {
  const keyspace = await Keyspace.read(redis, namespace, epoch);
  const record = await redis.hgetall(epochKey(namespace));
  const counters = await Promise.all(
    (['PASS', 'ORDER', 'FENCE', 'LANES_VERSION'] as const).map((name) => redis.get(keyspace.key(name))),
  );
  const [pass = '0', order = '0', fence = '0', lanesVersion = '0'] = counters.map((value) => value ?? '0');
  const members = (name: KeyName): Promise<string[]> => redis.zrange(keyspace.key(name), '0', '-1');
  const wakeUps = await keyspace.each('WAKE', async (lane) => {
    return { lane, count: await redis.llen(laneWakeKey(namespace, epoch, lane)) };
  });
  return {
    epoch: { number: record.number!, format: Number(record.format), status: record.status as 'open' },
    counters: { pass, order, fence, lanesVersion },
    holds: await keyspace.each('HOLD', (task, key) => readHold(redis, task, key)),
    waits: await keyspace.each('WAITS', async (task, key) => {
      return { task, resources: (await redis.smembers(key)).sort(byBytes) };
    }),
    locks: await keyspace.each('LOCK', (resource, key) => readLock(redis, resource, key)),
    queues: await keyspace.each('QUEUE', (resource, key) => readQueue(redis, resource, key)),
    ready: await keyspace.each('READY', async (lane, key) => {
      const scored = pairsOf(await redis.zrange(key, '0', '-1', 'WITHSCORES'));
      return { lane, members: scored.map(([member, score]) => ({ priority: 0 - Number(score), member })) };
    }),
    lanes: await members('LANES'),
    wakeUps: { admission: await redis.llen(admissionWakeKey(namespace)), lanes: wakeUps },
    registries: await keyspace.each('REGISTRY', async (owner, key) => {
      return { owner, tasks: await redis.zrange(key, '0', '-1') };
    }),
    owners: await members('OWNERS'),
    marks: await members('MARKS'),
  };
}

/** The keys of one epoch, by kind. */
class Keyspace {
  readonly #prefix: string;
  readonly #names = new Map<string, string[]>();

  private constructor(prefix: string) {
    this.#prefix = prefix;
  }

  static async read(redis: Redis, namespace: string, epoch: string): Promise<Keyspace> {
    const keyspace = new Keyspace(keyspacePrefix(namespace, epoch));
    const kinds = Object.values(keyNames);
    for (const key of await allKeys(redis, keyspace.#prefix)) {
      const rest = key.slice(keyspace.#prefix.length);
      const kind = kinds.find((each) => (each.endsWith(':') ? rest.startsWith(each) : rest === each));
      if (kind === undefined) throw new Error(`A key of no known kind: ${JSON.stringify(key)}`);
      const names = keyspace.#names.get(kind) ?? [];
      keyspace.#names.set(kind, [...names, rest.slice(kind.length)]);
    }
    return keyspace;
  }

  key(name: KeyName, rest: string = ''): string {
    return this.#prefix + keyNames[name] + rest;
  }

  async each<T>(name: KeyName, read: (rest: string, key: string) => Promise<T>): Promise<T[]> {
    const names = (this.#names.get(keyNames[name]) ?? []).sort(byBytes);
    return Promise.all(names.map((rest) => read(rest, this.key(name, rest))));
  }
}

async function allKeys(redis: Redis, prefix: string): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    for (const key of keys as string[]) found.add(key);
  }
  return found;
}

async function readHold(redis: Redis, task: string, key: string): Promise<HoldDump> {
  const hold = await redis.hgetall(key);
  return {
    task,
    entry: Number(hold.entry),
    status: hold.status as HoldDump['status'],
    owner: hold.owner || null,
    fence: hold.fence || null,
    lane: hold.lane!,
    priority: Number(hold.priority),
    place: hold.place!,
    order: Number(hold.order),
    exclusive: unpackNames(hold.exclusive!),
    shared: unpackNames(hold.shared!),
    busy: hold.busy === '1',
  };
}

async function readLock(redis: Redis, resource: string, key: string): Promise<TableDump['locks'][number]> {
  if ((await redis.type(key)) === 'string') {
    return { resource, mode: 'exclusive', tasks: [(await redis.get(key))!] };
  }
  return { resource, mode: 'shared', tasks: (await redis.smembers(key)).sort(byBytes) };
}

async function readQueue(redis: Redis, resource: string, key: string): Promise<TableDump['queues'][number]> {
  const waiters = pairsOf(await redis.zrange(key, '0', '-1', 'WITHSCORES')).map(([member, order]) => {
    const mode = member.startsWith('x') ? ('exclusive' as const) : ('shared' as const);
    return { task: member.slice(1), mode, order: Number(order) };
  });
  return { resource, waiters };
}

function pairsOf(flat: string[]): [string, string][] {
  return flat.flatMap((value, index) =>
    index % 2 === 0 ? [[value, flat[index + 1]!] as [string, string]] : [],
  );
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
