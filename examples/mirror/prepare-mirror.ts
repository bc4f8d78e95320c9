import { mkdir } from 'node:fs/promises';
import { copyPackages } from './copy-packages.js';
import { findPackages } from './find-packages.js';
import { beginJournal } from './journal.js';
import { layoutOf } from './layout.js';

export interface PreparedMirror {
  /** The mirror's folder. */
  mirror: string;
  packages: string[];
  /** Whether an earlier run, cut short, has left the folder and maybe tasks. */
  resumes: boolean;
}

/** Copies the packages to mirror into the folder `mirror`, an absolute path. To be called before a worker runs. */
export async function prepareMirror(mirror: string): Promise<PreparedMirror> {
  const layout = layoutOf(mirror);
  await mkdir(mirror, { recursive: true });
  const { packages, resumes } = await copyPackages(layout, await findPackages());
  await beginJournal(layout);
  return { mirror, packages, resumes };
}
