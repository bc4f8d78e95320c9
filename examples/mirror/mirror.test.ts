import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Layout } from './layout.js';
import { changeSource } from './change-source.js';
import { collectGarbage } from './collect-garbage.js';
import { copyPackages } from './copy-packages.js';
import { findPackages } from './find-packages.js';
import { findOverlaps, findRunning } from './journal.js';
import { blobFile, layoutOf, sourceFolder } from './layout.js';
import { readManifest } from './manifests.js';
import { publishIndex } from './publish-index.js';
import { syncPackage } from './sync-package.js';
import { verifyMirror } from './verify-mirror.js';

const signal = new AbortController().signal;

let folder: string;
let layout: Layout;
let packages: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-mirror-'));
  layout = layoutOf(folder);
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function copySix(): Promise<void> {
  ({ packages } = await copyPackages(layout, (await findPackages()).slice(10, 16)));
}

async function mirrorAll(): Promise<void> {
  for (const name of packages) await syncPackage(layout, name, signal);
  await collectGarbage(layout, signal);
  await publishIndex(layout, packages);
}

describe('the packages', () => {
  it('are those of the node_modules around this example, scoped ones included', async () => {
    const names = (await findPackages()).map(({ name }) => name);
    expect(names).toContain('commander');
    expect(names).toContain('@types/node');
    expect(names).not.toContain('@types');
  });

  it('are copied within the limits, from all over the alphabet', async () => {
    ({ packages } = await copyPackages(layout, await findPackages()));
    expect(packages.length).toBe(48);
    expect(new Set(packages.map((name) => name[0])).size).toBeGreaterThan(10);
  });

  it('are copied anew where a copy was left unfinished, and kept where it was not', async () => {
    await copySix();
    const source = sourceFolder(layout, packages[0] ?? '');
    await writeFile(join(source, 'mark'), '');
    expect(await copyPackages(layout, [])).toEqual({ packages, resumes: true });
    expect(await readdir(source)).toContain('mark');
    await rm(join(layout.sources, '.complete'));
    await copySix();
    expect(await readdir(source)).not.toContain('mark');
  });
});

describe('the mirror', () => {
  it('verifies after a sync of every package, and no longer when anything is wrong', async () => {
    await copySix();
    await mirrorAll();
    expect(verifyMirror(layout, packages)).toMatchObject({ manifests: packages.length, problems: [] });

    const name = packages[3] ?? '';
    const manifest = await readManifest(layout, name);
    const blob = manifest?.files[0]?.sha256 ?? '';
    await appendFile(blobFile(layout, blob), 'x');
    expect(verifyMirror(layout, packages).problems).toEqual([`blob ${blob} has another content`]);
    await rm(blobFile(layout, blob));
    expect(verifyMirror(layout, packages).problems).toEqual([`blob ${blob} is missing`]);
    await mirrorAll();
    await writeFile(join(sourceFolder(layout, name), 'late'), '');
    expect(verifyMirror(layout, packages).problems).toEqual([`${name}: late is not in the manifest`]);
  });

  it('follows a source that changes', async () => {
    await copySix();
    await mirrorAll();
    for (let change = 0; change < 8; change += 1) {
      const name = packages[change % packages.length] ?? '';
      await changeSource(layout, name, change);
      expect(verifyMirror(layout, packages).problems).not.toEqual([]);
      await syncPackage(layout, name, signal);
      await collectGarbage(layout, signal);
      await publishIndex(layout, packages);
      expect(verifyMirror(layout, packages).problems).toEqual([]);
    }
  });

  it('loses data when garbage is collected beside a sync: only the locks prevent that', async () => {
    await copySix();
    const done = new AbortController();
    const syncs = Promise.allSettled(packages.map((name) => syncPackage(layout, name, signal)));
    void syncs.then(() => done.abort());
    while (!done.signal.aborted) await collectGarbage(layout, signal).catch(() => {});
    await publishIndex(layout, packages);
    expect(verifyMirror(layout, packages).problems).not.toEqual([]);
  });
});

describe('the journal', () => {
  const start = (task: string, exclusive: string[], shared: string[]) => ({
    mark: 'start',
    task,
    pid: Number(task),
    exclusive,
    shared,
  });
  const overlapsOf = async (lines: object[]) => {
    await writeFile(layout.journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return await findOverlaps(layout);
  };

  it('shows tasks that ran together on a resource unless both shared it', async () => {
    expect(await overlapsOf([start('1', ['a'], ['s']), start('2', ['b'], ['s'])])).toEqual([]);
    expect(await overlapsOf([start('1', ['a'], ['s']), start('2', ['s'], [])])).toHaveLength(1);
    expect(await overlapsOf([start('1', ['a'], []), start('2', ['a'], [])])).toHaveLength(1);
    expect(await overlapsOf([start('1', ['a'], []), start('2', [], ['a'])])).toHaveLength(1);
  });

  it('counts a task as running until its end, its next start, the death of its process, or the next beginning', async () => {
    const [first, second] = [start('1', ['a'], []), start('2', ['a'], [])];
    expect(await overlapsOf([first, { mark: 'end', task: '1' }, second])).toEqual([]);
    expect(await overlapsOf([first, { mark: 'begin' }, second])).toEqual([]);
    expect(await overlapsOf([first, { mark: 'death', pid: 1 }, second])).toEqual([]);
    expect(await overlapsOf([first, { mark: 'death', pid: 2 }, second])).toHaveLength(1);
    expect(await overlapsOf([first, first])).toEqual([]);
  });

  it('tells which task runs in which process', async () => {
    await overlapsOf([start('1', [], []), start('2', [], []), { mark: 'end', task: '1' }]);
    expect(await findRunning(layout)).toEqual([{ task: '2', pid: 2 }]);
  });
});
