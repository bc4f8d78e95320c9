import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
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
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    createReadStream(file),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(temporary),
  );
  const sha256 = hash.digest('hex');
  const target = blobFile(layout, sha256);
  await mkdir(dirname(target), { recursive: true });
  await rename(temporary, target);
  return { sha256, bytes };
}

async function hashFile(file: string): Promise<Blob> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
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
