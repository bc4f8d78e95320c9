import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './connection.js';
import { epochOfKey, keyspacesPattern } from './keys.js';

const keysPerScan = 500;
const pauseMs = 5;

/**
 * Unlinks the keys of epochs before `limit` and returns how many they were. SCAN goes through the whole database,
 * which may have millions of foreign keys, so it pauses after each step.
 */
export async function unlinkEpochs(
  connection: Connection,
  namespace: string,
  limit: bigint,
): Promise<number> {
  const pattern = keyspacesPattern(namespace);
  let unlinked = 0;
  let cursor = '0';
  do {
    const reply = await connection.sendOrUnavailable('SCAN', [
      cursor,
      'MATCH',
      pattern,
      'COUNT',
      keysPerScan,
    ]);
    const [next, keys] = reply as [string, string[]];
    const old = keys.filter((key) => isBefore(epochOfKey(namespace, key), limit));
    if (old.length > 0) unlinked += Number(await connection.sendOrUnavailable('UNLINK', old));
    cursor = next;
    if (cursor !== '0') await delay(pauseMs);
  } while (cursor !== '0');
  return unlinked;
}

function isBefore(epoch: string | null, limit: bigint): boolean {
  return epoch !== null && BigInt(epoch) < limit;
}
