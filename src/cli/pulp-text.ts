import type { LegacyScan } from '../pulp/legacy-scan.js';
import { type Liveness, livenessOf, type ProcessRow } from '../pulp/liveness.js';
import { durationText } from './texts.js';

/** How the scan went, as JSON. */
export interface ScanReport {
  state: 'not-allowed' | 'done' | 'throttled';
  /** Until another one is allowed; null where it is, or where the mark never expires. */
  allowedInMs: number | null;
}

export function scanReport(scan: LegacyScan | null): ScanReport {
  if (scan === null || scan.state === 'not-yet') return { state: 'not-allowed', allowedInMs: null };
  const ms = scan.pauseMs ?? Number.POSITIVE_INFINITY;
  return { state: scan.state, allowedInMs: Number.isFinite(ms) ? ms : null };
}

/** For the person at the terminal, where what was asked for was not done. */
export function scanNote({ state, allowedInMs }: ScanReport): string {
  if (state !== 'throttled') return '';
  const when =
    allowedInMs === null ? 'and its mark never expires' : `allowed in ${durationText(allowedInMs)}`;
  return (
    `Not scanned: somebody in the fleet has scanned within 15 minutes (${when}). ` +
    'To allow a scan now, delete pulp:last_legacy_owner_scan.\n'
  );
}

export function foreignNote(foreign: string[]): string {
  return foreign.length === 0 ? '' : `Left alone: ${foreign.length} texts under task: that are no locks.\n`;
}

/** Why an owner counts as alive or not. */
export function whyText(processes: ProcessRow[]): string {
  const [last] = processes;
  if (last === undefined) return 'no process of this name';
  const heard = `heard of ${durationText(last.silentMs)} ago, TTL ${durationText(last.ttlMs)}`;
  const liveness: Liveness = livenessOf(processes);
  return liveness === 'late' ? `${heard}: may be alive` : heard;
}
