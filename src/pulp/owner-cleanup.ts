import type { Liveness } from './liveness.js';
import type { LockFinding } from './scripts.js';

/** What a clean-up did for one owner, or would do where it only looks. Locks are named by their keys. */
export interface OwnerCleanup {
  owner: string;
  /** Null where nobody has asked for it. */
  liveness: Liveness | null;
  /** Nothing was done, for the sake of a process that is alive, or may be. */
  spared: boolean;
  /** That it held and holds no more; a shared lock may have other owners still. */
  released: string[];
  /** In its registry, but not there. */
  gone: string[];
  /** In its registry, but held by others. */
  retaken: string[];
  /** In its registry, but no locks of pulpcore's. They are left, and keep the owner listed. */
  unexpected: { key: string; type: string }[];
  /** It was taken off the list of owners. */
  unlisted: boolean;
  /** Nothing of this owner is left that this could have found. */
  done: boolean;
  /** The same call may do later what this one could not. */
  retry: boolean;
  error: string | null;
}

export function newCleanup(owner: string): OwnerCleanup {
  const found = { released: [], gone: [], retaken: [], unexpected: [] };
  return {
    owner,
    liveness: null,
    spared: false,
    ...found,
    unlisted: false,
    done: false,
    retry: false,
    error: null,
  };
}

export function sparedCleanup(owner: string, liveness: Liveness): OwnerCleanup {
  return { ...newCleanup(owner), liveness, spared: true, retry: true };
}

export function failedCleanup(cleanup: OwnerCleanup, error: unknown): OwnerCleanup {
  const message = error instanceof Error ? error.message : String(error);
  return { ...cleanup, done: false, retry: true, error: message };
}

export function addFindings(cleanup: OwnerCleanup, findings: LockFinding[]): void {
  for (const { key, finding, type } of findings) {
    if (finding === 'unexpected') cleanup.unexpected.push({ key, type });
    else cleanup[finding === 'held' ? 'released' : finding].push(key);
  }
}
