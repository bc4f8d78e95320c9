import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compiledFile } from '../entry-point.js';
import { DataDirLocked, NotConfigured } from '../errors.js';
import { shown } from '../shown.js';
import { lockDataFolder } from './data-folder-lock.js';
import { LockSocket } from './lock-socket.js';

/** Prints what came of locking the folder, and then lives until it is killed. */
const script = `
  import { lockDataFolder } from ${JSON.stringify(compiledFile(import.meta.url, './data-folder-lock.js').href)};
  process.stdin.once('data', () => lockDataFolder(process.argv[1]).then(
    () => console.log('locked'),
    (error) => { console.log(error.code); process.exit(); },
  ));
  console.log('ready');
`;

interface Contender {
  process: ChildProcess;
  /** Tries to lock; resolves with \`locked\` or the code of the error. */
  lock(): Promise<string>;
}

let folder: string;
let contenders: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-lock-'));
  contenders = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const contender of contenders) await kill(contender);
  await rm(folder, { recursive: true, force: true });
});

async function contender(dataDir = folder, wrapper: string[] = []): Promise<Contender> {
  const command = [...wrapper, process.execPath, '--input-type=module', '-e', script, dataDir];
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  contenders.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<string> => String((await lines.next()).value);
  expect(await read()).toBe('ready');
  return {
    process: child,
    lock: () => {
      child.stdin.write('go\n');
      return read();
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function lockFiles(dataDir = folder): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => name.startsWith('lock-'));
}

describe('lockDataFolder', () => {
  it('refuses a second owner while the first lives, and tells its pid', async () => {
    const owner = await contender();
    expect(await owner.lock()).toBe('locked');
    await expect(lockDataFolder(folder)).rejects.toThrow(DataDirLocked);
    await expect(lockDataFolder(folder)).rejects.toThrow(`Process ${owner.process.pid} has the data folder`);
  });

  it('refuses a second owner in the same process, until the first releases', async () => {
    const first = await lockDataFolder(folder);
    await expect(lockDataFolder(folder)).rejects.toThrow(DataDirLocked);
    await first.release();
    const second = await lockDataFolder(folder);
    await second.release();
    expect(await lockFiles()).toEqual([]);
  });

  it('is not blocked by an owner that was killed, and clears its file away', async () => {
    const owner = await contender();
    await owner.lock();
    await kill(owner.process);
    expect(await lockFiles()).toHaveLength(1);
    const lock = await lockDataFolder(folder);
    expect(await lockFiles()).toHaveLength(1);
    await lock.release();
  });

  it('stays with an owner that is stopped, however often it is asked, also after it goes on', async () => {
    const owner = await contender();
    await owner.lock();
    owner.process.kill('SIGSTOP');
    await expect(lockDataFolder(folder)).rejects.toThrow('does not answer');
    // More connections than the owner's queue takes.
    const asking = Array.from({ length: 600 }, () => lockDataFolder(folder));
    const answers = await Promise.allSettled(asking);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    owner.process.kill('SIGCONT');
    await expect(lockDataFolder(folder)).rejects.toThrow(DataDirLocked);
    expect(owner.process.exitCode).toBeNull();
  });

  it('gives twenty racing processes at most one owner, and a folder that can be locked afterwards', async () => {
    const racers = await Promise.all(Array.from({ length: 20 }, () => contender()));
    const answers = await Promise.all(racers.map((racer) => racer.lock()));
    const won = answers.filter((answer) => answer === 'locked');
    expect(won.length).toBeLessThanOrEqual(1);
    expect(answers.filter((answer) => answer === 'DataDirLocked')).toHaveLength(20 - won.length);
    for (const racer of racers) await kill(racer.process);
    const lock = await lockDataFolder(folder);
    await lock.release();
    expect(await lockFiles()).toEqual([]);
  });

  it('gives those who race in one process at most one owner, a hundred times', async () => {
    let wins = 0;
    for (let round = 0; round < 100; round += 1) {
      const answers = await Promise.allSettled(Array.from({ length: 5 }, () => lockDataFolder(folder)));
      const locks = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
      expect(locks.length).toBeLessThanOrEqual(1);
      wins += locks.length;
      for (const lock of locks) await lock.release();
    }
    expect(wins).toBeGreaterThan(50);
  });

  it('makes a candidate whose file an owner took for stale start over', async () => {
    // After this one call the original is back, so the inner call reaches it.
    vi.spyOn(LockSocket.prototype, 'listen').mockImplementationOnce(async function (this: LockSocket, path) {
      await this.listen(path);
      await rm(path);
    });
    const lock = await lockDataFolder(folder);
    expect(await lockFiles()).toHaveLength(1);
    await lock.release();
  });

  it('locks a folder whose path is longer than the address of a socket', async () => {
    const deep = join(folder, 'x'.repeat(200), 'y'.repeat(200));
    const lock = await lockDataFolder(deep);
    expect(await lockFiles(deep)).toHaveLength(1);
    const other = await contender(deep);
    expect(await other.lock()).toBe('DataDirLocked');
    await lock.release();
    expect(await lockFiles(deep)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['a file', 'file', 'is a file'],
    ['under a file', 'file/deep/er', 'is a file'],
    ['a link to nowhere', 'nowhere', 'leads nowhere'],
    ['a link to itself', 'circle', 'too many links'],
    ['a name with NUL', 'a\0b', 'NUL'],
    ['a name that is too long', 'x'.repeat(300), 'too long'],
  ])('says that the folder is %s', async (_, name, reason) => {
    await writeFile(join(folder, 'file'), '');
    await symlink(join(folder, 'gone', 'away'), join(folder, 'nowhere'));
    await symlink(join(folder, 'circle'), join(folder, 'circle'));
    const locking = lockDataFolder(join(folder, name));
    await expect(locking).rejects.toThrow(NotConfigured);
    await expect(locking).rejects.toThrow(
      `The data folder ${shown(join(folder, name), 1_000)} cannot be used`,
    );
    await expect(locking).rejects.toThrow(reason);
  });

  it.skipIf(process.platform !== 'linux')('says that nothing can be written to the folder', async () => {
    await expect(lockDataFolder('/proc')).rejects.toThrow(NotConfigured);
    await expect(lockDataFolder('/proc')).rejects.toThrow(
      '"/proc" cannot be used: nothing can be written to it',
    );
  });

  const unshare = ['unshare', '--pid', '--net', '--ipc', '--uts', '--mount', '--mount-proc', '--fork'];
  const canUnshare = spawnSync('unshare', [...unshare.slice(1), 'true']).status === 0;

  it.skipIf(!canUnshare)('holds across the namespaces of containers that share the folder', async () => {
    const owner = await contender(folder, [...unshare, '--kill-child']);
    expect(await owner.lock()).toBe('locked');
    await expect(lockDataFolder(folder)).rejects.toThrow(DataDirLocked);
    const other = await contender(folder, [...unshare, '--kill-child']);
    expect(await other.lock()).toBe('DataDirLocked');
    await kill(owner.process);
    await expect.poll(() => lockDataFolder(folder).then((lock) => lock.release())).toBeUndefined();
  });
});
