import { setTimeout as delay } from 'node:timers/promises';
import type { NamePage, TableName } from '../table-audit.js';
import type { Connection } from './connection.js';
import { keyNames, keyspacePrefix } from './keys.js';

const keysPerScan = 500;
const pauseMs = 5;

const kinds: readonly [prefix: string, kind: TableName['kind']][] = [
  [keyNames.HOLD, 'hold'],
  [keyNames.WAITS, 'waits'],
  [keyNames.LOCK, 'lock'],
  [keyNames.QUEUE, 'queue'],
  [keyNames.READY, 'ready'],
  [keyNames.REGISTRY, 'registry'],
];

/** The lanes that are listed: as many as there are kinds of tasks. */
export async function findLanes(connection: Connection, namespace: string, epoch: string): Promise<NamePage> {
  const key = keyspacePrefix(namespace, epoch) + keyNames.LANES;
  const lanes = (await connection.sendOrUnavailable('ZRANGE', [key, 0, -1])) as string[];
  return { names: lanes.map((name) => ({ kind: 'ready', name })), next: null };
}

/** One step of SCAN through the whole database, which may have millions of foreign keys: so it pauses before the next. */
export async function scanNames(
  connection: Connection,
  namespace: string,
  epoch: string,
  cursor: string | null,
): Promise<NamePage> {
  if (cursor !== null) await delay(pauseMs);
  const prefix = keyspacePrefix(namespace, epoch);
  const options = ['MATCH', `${prefix}*`, 'COUNT', keysPerScan];
  const reply = await connection.sendOrUnavailable('SCAN', [cursor ?? '0', ...options]);
  const [next, keys] = reply as [string, string[]];
  const names = keys.flatMap((key) => nameOf(key.slice(prefix.length)));
  return { names, next: next === '0' ? null : next };
}

function nameOf(rest: string): TableName[] {
  const [prefix, kind] = kinds.find(([prefix]) => rest.startsWith(prefix)) ?? [];
  return prefix === undefined || kind === undefined ? [] : [{ kind, name: rest.slice(prefix.length) }];
}
