import type { Redis } from 'ioredis';
import type { HoldDump, TableDump } from '../table-dump.js';
import { admissionWakeKey, epochKey, keyNames, keyspacePrefix } from './keys.js';
import { unpackNames } from './scripts/hold-arguments.js';

/** Everything at once, so that a dump is one moment and one round trip. Test code only: KEYS reads all keys. */
const readEverything = `
local read = {
  string = function(key) return { redis.call('GET', key) } end,
  hash = function(key) return redis.call('HGETALL', key) end,
  set = function(key) return redis.call('SMEMBERS', key) end,
  zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
  list = function(key) return redis.call('LRANGE', key, 0, -1) end,
}
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local kind = redis.call('TYPE', key).ok
  found[#found + 1] = { key, kind, read[kind](key) }
end
return { redis.call('HGETALL', KEYS[1]), redis.call('LLEN', KEYS[2]), found }`;

type Type = 'string' | 'hash' | 'set' | 'zset' | 'list';
type KeyName = keyof typeof keyNames;
type Found = [rest: string, type: Type, values: string[]];

/** The whole keyspace of one epoch. A key that belongs to no table makes it throw. */
export async function dumpRedis(redis: Redis, namespace: string, epoch: string): Promise<TableDump> {
  const prefix = keyspacePrefix(namespace, epoch);
  const keys = [epochKey(namespace), admissionWakeKey(namespace)];
  const answer = await redis.eval(readEverything, 2, ...keys, `${prefix}*`);
  const [recordFields, admission, found] = answer as [string[], number, Found[]];
  const record = Object.fromEntries(pairsOf(recordFields));
  const of = byKind(prefix, found);
  const counter = (name: KeyName): string => of(name)[0]?.[2][0] ?? '0';
  const members = (name: KeyName): string[] => pairsOf(of(name)[0]?.[2] ?? []).map(([member]) => member);
  return {
    epoch: { number: record.number!, format: Number(record.format), status: record.status as 'open' },
    counters: {
      pass: counter('PASS'),
      order: counter('ORDER'),
      fence: counter('FENCE'),
      lanesVersion: counter('LANES_VERSION'),
    },
    holds: of('HOLD').map(([task, , fields]) => holdOf(task, Object.fromEntries(pairsOf(fields)))),
    waits: of('WAITS').map(([task, , resources]) => ({ task, resources: resources.sort(byBytes) })),
    locks: of('LOCK').map(([resource, type, tasks]) => {
      return { resource, mode: type === 'string' ? 'exclusive' : 'shared', tasks: tasks.sort(byBytes) };
    }),
    queues: of('QUEUE').map(([resource, , waiters]) => ({
      resource,
      waiters: pairsOf(waiters).map(waiterOf),
    })),
    ready: of('READY').map(([lane, , scored]) => {
      return {
        lane,
        members: pairsOf(scored).map(([member, score]) => ({ priority: 0 - Number(score), member })),
      };
    }),
    lanes: members('LANES'),
    wakeUps: { admission, lanes: of('WAKE').map(([lane, , wakeUps]) => ({ lane, count: wakeUps.length })) },
    registries: of('REGISTRY').map(([owner, , scored]) => {
      return { owner, tasks: pairsOf(scored).map(([task]) => task) };
    }),
    owners: members('OWNERS'),
    marks: members('MARKS'),
  };
}

/** Gives the keys of one kind, by what follows the kind, in order of bytes. */
function byKind(prefix: string, found: Found[]): (name: KeyName) => Found[] {
  const kinds = new Map<string, Found[]>(Object.values(keyNames).map((kind) => [kind, []]));
  for (const [key, type, values] of found) {
    const rest = key.slice(prefix.length);
    const kind = [...kinds.keys()].find((each) =>
      each.endsWith(':') ? rest.startsWith(each) : rest === each,
    );
    if (kind === undefined) throw new Error(`A key of no known kind: ${JSON.stringify(key)}`);
    kinds.get(kind)!.push([rest.slice(kind.length), type, values]);
  }
  return (name) => kinds.get(keyNames[name])!.sort(([a], [b]) => byBytes(a, b));
}

function holdOf(task: string, hold: Record<string, string>): HoldDump {
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

function waiterOf([member, order]: [string, string]): TableDump['queues'][number]['waiters'][number] {
  return {
    task: member.slice(1),
    mode: member.startsWith('x') ? 'exclusive' : 'shared',
    order: Number(order),
  };
}

function pairsOf(flat: string[]): [string, string][] {
  return flat.flatMap((value, index) =>
    index % 2 === 0 ? [[value, flat[index + 1]!] as [string, string]] : [],
  );
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
