import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Holdfast, HoldfastOptions } from '../holdfast.js';
import { processLives } from '../../test/helpers/process-lives.js';
import { fillPgliteFolder } from '../../test/helpers/pglite-folder.js';
import { compiledFile } from '../entry-point.js';
import { DataDirLocked } from '../errors.js';
import { createHoldfast } from '../holdfast.js';
import { defineTask } from '../tasks/definition.js';

let dataDir: string;
let opened: Holdfast[];
let child: ChildProcess | null;
/** A child of that process, which may outlive it. */
let stray: number | null;

/** Data that was opened once: making it takes longer than all else here. */
let template: string;

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'holdfast-template-'));
  await fillPgliteFolder(join(template, 'pg'));
  const hf = await createHoldfast({ embedded: true, dataDir: template });
  await hf.close();
}, 120_000);
afterAll(() => rm(template, { recursive: true, force: true }));

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-embedded-'));
  await cp(template, dataDir, { recursive: true });
  opened = [];
  child = null;
  stray = null;
});
afterEach(async () => {
  child?.kill('SIGKILL');
  if (stray !== null && processLives(stray)) process.kill(stray, 'SIGKILL');
  for (const hf of opened) await hf.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function open(options: HoldfastOptions = {}): Promise<Holdfast> {
  const hf = await createHoldfast({ embedded: true, dataDir, ...options });
  opened.push(hf);
  return hf;
}

/** An embedded process that starts two tasks which never end, and has two more waiting for what they hold. */
async function startDoomedProcess(): Promise<{ process: ChildProcess; tasks: Record<string, string> }> {
  const script = `
    import { createHoldfast, defineTask } from ${JSON.stringify(compiledFile(import.meta.url, '../index.js').href)};
    let started = 0, told;
    const both = new Promise((resolve) => (told = resolve));
    const run = () => { if (++started === 2) told(); return new Promise(() => {}); };
    const tasks = [
      defineTask({ name: 'once', run }),
      defineTask({ name: 'again', run, maxAttempts: 1, onWorkerLost: 'retry' }),
    ];
    const hf = await createHoldfast({ embedded: true, dataDir: process.argv[1], tasks });
    const dispatch = async (name, exclusive) => (await hf.dispatch(name, null, { exclusive })).id;
    const ids = { once: await dispatch('once', ['a']), again: await dispatch('again', ['b']) };
    void hf.createWorker({ name: 'doomed' }).run();
    await both;
    ids.behindOnce = await dispatch('once', ['a']);
    ids.behindAgain = await dispatch('once', ['b']);
    console.log(JSON.stringify(ids));
  `;
  child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { process: child, tasks: JSON.parse(line) as Record<string, string> };
}

/** An embedded process whose one task runs in a child. */
async function startProcessWithChild(): Promise<{ process: ChildProcess; child: number }> {
  const library = JSON.stringify(compiledFile(import.meta.url, '../index.js').href);
  const taskFile = join(dataDir, 'tasks.mjs');
  const run = `({ progress }) => { progress(process.pid); return new Promise(() => {}); }`;
  await writeFile(
    taskFile,
    `import { defineTask } from ${library};
    export const stays = defineTask({ name: 'stays', isolation: 'child', run: (_, context) => (${run})(context) });`,
  );
  const script = `
    import { createHoldfast } from ${library};
    const hf = await createHoldfast({ embedded: true, dataDir: process.argv[1] });
    void hf.createWorker({ name: 'doomed', taskFiles: [process.argv[2]] }).run();
    const { id } = await hf.dispatch('stays', null);
    for (;;) {
      const { progress } = await hf.tasks.get(id);
      if (progress.length > 0) { console.log(progress[0]); break; }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  `;
  child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir, taskFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  stray = Number(line);
  return { process: child, child: stray };
}

describe('embedded', { timeout: 120_000 }, () => {
  it('runs tasks without any server and keeps them over a restart, in a new epoch each time', async () => {
    const fences: string[] = [];
    const note = defineTask({ name: 'note', run: (payload, { fence }) => void fences.push(fence) });
    const ids: string[] = [];
    for (let start = 0; start < 2; start += 1) {
      const hf = await open({ tasks: [note] });
      const running = hf.createWorker({ name: 'w' }).run();
      const { id } = await hf.dispatch(note, start, { exclusive: ['r'] });
      ids.push(id);
      expect(await hf.wait(id, { timeout: '30s' })).toMatchObject({ state: 'completed', payload: start });
      await hf.close();
      await running;
    }
    const hf = await open();
    expect((await hf.tasks.list()).tasks.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(await hf.workers.list()).toEqual({ workers: [], next: null });
    expect(await hf.locks.list()).toEqual({ locks: [], next: null });
    expect(new Set(fences.map((fence) => fence.slice(0, 12))).size).toBe(2);
    expect(fences).toEqual([...fences].sort());
  });

  it.runIf(process.platform === 'linux')(
    'ends children that outlived a SIGKILL, being frozen, before it gives their tasks out again',
    async () => {
      const { process: doomed, child: frozen } = await startProcessWithChild();
      process.kill(frozen, 'SIGSTOP');
      doomed.kill('SIGKILL');
      await once(doomed, 'exit');
      expect(processLives(frozen)).toBe(true);
      await open();
      expect(processLives(frozen)).toBe(false);
    },
  );

  it('is refused to a second one, in this process or another, and takes over after a SIGKILL', async () => {
    const doomed = await startDoomedProcess();
    await expect(open()).rejects.toThrow(DataDirLocked);
    doomed.process.kill('SIGKILL');
    await once(doomed.process, 'exit');

    const run = (): string => 'ran';
    const tasks = [
      defineTask({ name: 'once', run }),
      defineTask({ name: 'again', run, onWorkerLost: 'retry' }),
    ];
    const hf = await open({ tasks });
    await expect(open()).rejects.toThrow(DataDirLocked);
    expect(await hf.workers.list()).toEqual({ workers: [], next: null });
    const running = hf.createWorker({ name: 'next' }).run();
    const { once: first = '', again = '', behindOnce = '', behindAgain = '' } = doomed.tasks;
    expect(await hf.wait(first, { timeout: '30s' })).toMatchObject({
      state: 'failed',
      error: { message: 'Worker has gone missing.' },
    });
    for (const id of [again, behindOnce, behindAgain]) {
      expect(await hf.wait(id, { timeout: '30s' })).toMatchObject({
        state: 'completed',
        result: 'ran',
        attempt: 1,
      });
    }
    expect((await hf.tasks.get(again)).entry).toBe(2);
    await hf.close();
    await running;
  });
});
