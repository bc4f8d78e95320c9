import { join } from 'node:path';

/** Where a mirror keeps what. */
export interface Layout {
  /** Copies of the packages: what is mirrored, and what the demo changes while it is being mirrored. */
  sources: string;
  /** One file a content, named by its SHA-256. */
  blobs: string;
  /** One file a package: which contents it has, by path. */
  manifests: string;
  /** Blobs that are being written. Only `store.gc` empties it. */
  temporary: string;
  /** The index of manifests. */
  index: string;
  /** Which task held what, in order of starts and ends. */
  journal: string;
}

export function layoutOf(mirror: string): Layout {
  return {
    sources: join(mirror, 'sources'),
    blobs: join(mirror, 'blobs'),
    manifests: join(mirror, 'manifests'),
    temporary: join(mirror, 'temporary'),
    index: join(mirror, 'index.json'),
    journal: join(mirror, 'journal.jsonl'),
  };
}

export function sourceFolder(layout: Layout, packageName: string): string {
  return join(layout.sources, ...packageName.split('/'));
}

export function blobFile(layout: Layout, sha256: string): string {
  return join(layout.blobs, sha256.slice(0, 2), sha256.slice(2));
}

/** The name may have a scope, whose slash must not become a folder. */
export function manifestFile(layout: Layout, packageName: string): string {
  return join(layout.manifests, `${encodeURIComponent(packageName)}.json`);
}
