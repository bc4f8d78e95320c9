import type { Layout } from './layout.js';
import { readManifest, writeIndex } from './manifests.js';

export interface PublishResult {
  packages: number;
}

/** Writes the index of the manifests. None of them changes meanwhile: the task shares every package. */
export async function publishIndex(layout: Layout, packages: string[]): Promise<PublishResult> {
  const manifests = await Promise.all(packages.map((name) => readManifest(layout, name)));
  const found = manifests.filter((manifest) => manifest !== null);
  await writeIndex(layout, {
    packages: found.map(({ package: name, files }) => ({
      package: name,
      files: files.length,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    })),
  });
  return { packages: found.length };
}
