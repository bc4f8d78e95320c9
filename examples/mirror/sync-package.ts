import { join } from 'node:path';
import type { StoredBlob } from './blobs.js';
import type { Layout } from './layout.js';
import type { ManifestEntry } from './manifests.js';
import { storeBlob } from './blobs.js';
import { listFiles } from './files.js';
import { sourceFolder } from './layout.js';
import { isNotFound, writeManifest } from './manifests.js';

export interface SyncResult {
  files: number;
  /** Bytes hashed. */
  bytes: number;
  /** Contents that were not in the store before. */
  blobsWritten: number;
  bytesWritten: number;
}

/**
 * Mirrors one package as it is now: blobs first, and the manifest that names them last. Running it again, also
 * after it died half-way, gives the same store.
 */
export async function syncPackage(
  layout: Layout,
  packageName: string,
  signal: AbortSignal,
): Promise<SyncResult> {
  const folder = sourceFolder(layout, packageName);
  const files: ManifestEntry[] = [];
  const result: SyncResult = { files: 0, bytes: 0, blobsWritten: 0, bytesWritten: 0 };
  for (const path of await listFiles(folder)) {
    signal.throwIfAborted();
    const blob = await storeUnlessRemoved(layout, join(folder, path));
    if (blob === null) continue;
    files.push({ path, sha256: blob.sha256, bytes: blob.bytes });
    result.files += 1;
    result.bytes += blob.bytes;
    result.blobsWritten += blob.written ? 1 : 0;
    result.bytesWritten += blob.written ? blob.bytes : 0;
  }
  await writeManifest(layout, { package: packageName, files });
  return result;
}

/** null for a file that was removed since the folder was listed: whoever removed it asks for another sync. */
async function storeUnlessRemoved(layout: Layout, file: string): Promise<StoredBlob | null> {
  try {
    return await storeBlob(layout, file);
  } catch (error) {
    if (isNotFound(error, file)) return null;
    throw error;
  }
}
