/** A row of `core_appstatus`: one life of a process. */
export interface ProcessRow {
  id: string;
  name: string;
  /** Such as `worker` or `api`. */
  kind: string;
  lastHeartbeat: string;
  ttlMs: number;
  /** Since its last heartbeat, by the database's clock. */
  silentMs: number;
}

/**
 * Of an owner, which is a name alone:
 *
 * - `live`: a process of that name was heard of within its TTL
 * - `late`: none was, but one may be alive still and kept from its heartbeats, say by a busy database
 * - `missing`: all have been silent for ten times their TTL
 * - `orphan`: there is no row of that name
 */
export type Liveness = 'live' | 'late' | 'missing' | 'orphan';

/** After so many TTLs without a heartbeat, nobody waits for a process any more. */
const ttlsUntilMissing = 10;

export function livenessOf(rows: readonly ProcessRow[]): Liveness {
  if (rows.length === 0) return 'orphan';
  if (rows.some(isOnline)) return 'live';
  const missing = rows.every(({ silentMs, ttlMs }) => silentMs > ttlsUntilMissing * ttlMs);
  return missing ? 'missing' : 'late';
}

export function isOnline({ silentMs, ttlMs }: ProcessRow): boolean {
  return silentMs <= ttlMs;
}
