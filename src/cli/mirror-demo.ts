import { fileURLToPath } from 'node:url';
import type { Holdfast } from '../holdfast.js';
import type { TaskDefinition } from '../tasks/definition.js';
import { compiledFile } from '../entry-point.js';

/**
 * What the demo uses of examples/mirror. That is a program of a user: it imports this package by its name, is
 * compiled after it, and so is not seen by the compiler here.
 */
export interface MirrorDemo {
  tasks: TaskDefinition[];
  prepareMirror(mirror: string): Promise<PreparedMirror>;
  runMirror(hf: Holdfast, prepared: PreparedMirror, options: RunOptions): Promise<MirrorReport>;
  runningInMirror(mirror: string): Promise<{ task: string; pid: number }[]>;
  deathInMirror(mirror: string, pid: number): Promise<void>;
}

export interface PreparedMirror {
  mirror: string;
  packages: string[];
  resumes: boolean;
}

export interface RunOptions {
  tasks: number;
  onProgress: (progress: MirrorProgress) => void;
  signal: AbortSignal;
}

export interface MirrorProgress {
  dispatched: number;
  settled: number;
  longestQueue: number;
}

export interface MirrorReport {
  ok: boolean;
  tasks: number;
  completed: number;
  syncs: number;
  collections: number;
  publications: number;
  resumed: number;
  verified: boolean;
  problems: string[];
  locksLeft: number;
  overlaps: number;
  packages: number;
  files: number;
  blobs: number;
  bytes: number;
  bytesHashed: number;
  blobsWritten: number;
  blobsRemoved: number;
  longestQueue: number;
}

/** The file that defines the mirror's tasks, for `--tasks`. */
export const mirrorTaskFile: string = fileURLToPath(
  compiledFile(import.meta.url, '../examples/mirror/tasks.js'),
);

export async function loadMirrorDemo(): Promise<MirrorDemo> {
  const module = compiledFile(import.meta.url, '../examples/mirror/index.js');
  return (await import(module.href)) as MirrorDemo;
}
