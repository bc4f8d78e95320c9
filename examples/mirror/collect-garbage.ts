import { rm } from 'node:fs/promises';
import type { Layout } from './layout.js';
import { listBlobs, removeBlob } from './blobs.js';
import { readAllManifests } from './manifests.js';

export interface GarbageResult {
  kept: number;
  removed: number;
}

/**
 * Removes the blobs that no manifest names, and what dead syncs left half-written. It lists first and removes
 * afterwards, with no lock of its own and no grace for young blobs: beside a sync it would remove blobs whose
 * manifest is about to be written. The exclusive lock on `store` is all that prevents it.
 */
export async function collectGarbage(layout: Layout, signal: AbortSignal): Promise<GarbageResult> {
  const manifests = await readAllManifests(layout);
  const named = new Set(manifests.flatMap((manifest) => manifest.files.map((file) => file.sha256)));
  const blobs = await listBlobs(layout);
  const garbage = blobs.filter((sha256) => !named.has(sha256));
  for (const sha256 of garbage) {
    signal.throwIfAborted();
    await removeBlob(layout, sha256);
  }
  await rm(layout.temporary, { recursive: true, force: true });
  return { kept: blobs.length - garbage.length, removed: garbage.length };
}
