import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Layout } from './layout.js';
import { blobFile } from './layout.js';

export interface Blob {
  sha256: string;
  bytes: number;
}

export interface StoredBlob extends Blob {
  /** Whether the content was not in the store before. */
  written: boolean;
}

const chunkBytes = 65_536;

/**
 * Puts the content of a file into the store unless it is there. That a blob which is there now will stay is
 * what the shared lock on `store` promises.
 */
export async function storeBlob(layout: Layout, file: string): Promise<StoredBlob> {
  const { sha256, bytes } = await hashFile(file);
  if (await exists(blobFile(layout, sha256))) return { sha256, bytes, written: false };
  return { ...(await writeBlob(layout, file)), written: true };
}

/** Hashes what it copies, because the file may change between the two: the name must fit the content. */
async function writeBlob(layout: Layout, file: string): Promise<Blob> {
  await mkdir(layout.temporary, { recursive: true });
  const temporary = join(layout.temporary, randomUUID());
  const copy = await open(temporary, 'wx');
  let blob: Blob;
  try {
    blob = await hashFile(file, (chunk) => copy.appendFile(chunk));
  } finally {
    await copy.close();
  }
  const target = blobFile(layout, blob.sha256);
  await mkdir(dirname(target), { recursive: true });
  await rename(temporary, target);
  return blob;
}

/** Reads the file chunk by chunk, whatever its size; each chunk is valid until `take` has returned. */
async function hashFile(file: string, take?: (chunk: Buffer) => Promise<void>): Promise<Blob> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let bytes = 0;
  const handle = await open(file);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes };
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      bytes += bytesRead;
      await take?.(chunk);
    }
  } finally {
    await handle.close();
  }
}

/** The hashes of all blobs in the store. */
export async function listBlobs(layout: Layout): Promise<string[]> {
  const found: string[] = [];
  for (const prefix of await namesIn(layout.blobs)) {
    for (const rest of await namesIn(join(layout.blobs, prefix))) found.push(prefix + rest);
  }
  return found;
}

export async function removeBlob(layout: Layout, sha256: string): Promise<void> {
  await rm(blobFile(layout, sha256), { force: true });
}

async function namesIn(folder: string): Promise<string[]> {
  return (await exists(folder)) ? (await readdir(folder)).sort() : [];
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
