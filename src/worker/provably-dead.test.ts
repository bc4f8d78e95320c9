import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { NamedWorker } from '../store/lost-workers.js';
import { processLives } from '../../test/helpers/process-lives.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { compiledFile } from '../entry-point.js';
import { spawnChild } from './child-process.js';
import { processIdentity, startTimeIn } from './process-identity.js';
import { provablyDead } from './provably-dead.js';
import { newWatchdogAddress, watchdogMark } from './watchdog-address.js';

const here = processIdentity();
const started: ChildProcess[] = [];

afterEach(() => {
  for (const one of started.splice(0)) one.kill('SIGKILL');
});

function start(command: string, args: string[], options: { env?: NodeJS.ProcessEnv } = {}): ChildProcess {
  const one = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'], ...options });
  started.push(one);
  return one;
}

/** The row of a worker that has this process. */
function workerOf(pid: number, identity: Record<string, string> = {}): NamedWorker {
  const startTime = startTimeIn(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return {
    incarnation: '1',
    pid,
    counter: '0',
    reaped: false,
    identity: { ...here, startTime, ...identity },
  };
}

async function kill(one: ChildProcess): Promise<void> {
  one.kill('SIGKILL');
  await once(one, 'exit');
}

/** The row of a worker whose process has been killed. */
async function deadWorker(identity: Record<string, string> = {}): Promise<NamedWorker> {
  const one = start('sleep', ['60']);
  const worker = workerOf(one.pid ?? 0, identity);
  await kill(one);
  return worker;
}

describe.runIf(process.platform === 'linux')('the process of a worker', () => {
  test('is known to be dead once no process has its pid', async () => {
    expect(await provablyDead(await deadWorker(), here)).toBe(true);
  });

  test('may live while it runs, or is frozen', async () => {
    const one = start('sleep', ['60']);
    const worker = workerOf(one.pid ?? 0);
    expect(await provablyDead(worker, here)).toBe(false);
    one.kill('SIGSTOP');
    expect(await provablyDead(worker, here)).toBe(false);
  });

  test('is known to be dead where its pid is another process now', async () => {
    const one = start('sleep', ['60']);
    expect(await provablyDead(workerOf(one.pid ?? 0, { startTime: '1' }), here)).toBe(true);
  });

  test('is dead as a zombie', async () => {
    // The shell becomes a program that waits for no child.
    const parent = start('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60']);
    const [line] = (await once(parent.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const worker = workerOf(Number(line.toString()));
    const isZombie = (): boolean => /\) Z /.test(readFileSync(`/proc/${worker.pid}/stat`, 'utf8'));
    await waitUntil(isZombie, 'it is a zombie');
    expect(await provablyDead(worker, here)).toBe(true);
  });

  test.each(['bootId', 'pidNamespace'])(
    'cannot be known where the %s is another, or was not told',
    async (key) => {
      expect(await provablyDead(await deadWorker({ [key]: 'another' }), here)).toBe(false);
      const worker = await deadWorker();
      const { [key]: _, ...unknown } = worker.identity;
      expect(await provablyDead({ ...worker, identity: unknown }, here)).toBe(false);
      expect(await provablyDead({ ...worker, identity: unknown }, unknown)).toBe(false);
    },
  );

  test('cannot be known where its start was not told', async () => {
    const worker = await deadWorker();
    const { startTime: _, ...unknown } = worker.identity;
    expect(await provablyDead({ ...worker, identity: unknown }, here)).toBe(false);
  });
});

describe('the container of a pod', () => {
  const pod = { podUid: 'u', container: 'c' };
  const worker = { incarnation: '1', pid: 1, counter: '0', reaped: false };

  test('is never there twice: who had it before is dead', async () => {
    const identity = { ...pod, bootId: 'b', pidNamespace: 'before', startTime: '1' };
    expect(await provablyDead({ ...worker, identity }, { ...here, ...pod })).toBe(true);
    expect(await provablyDead({ ...worker, identity: pod }, pod)).toBe(true);
  });

  test('is told by both, the pod and the name', async () => {
    const others: Record<string, string>[] = [
      { ...pod, podUid: 'v' },
      { ...pod, container: 'd' },
      { podUid: 'u' },
      {},
    ];
    for (const identity of others) {
      expect(await provablyDead({ ...worker, identity }, pod)).toBe(false);
      expect(await provablyDead({ ...worker, identity: pod }, identity)).toBe(false);
    }
  });

  test.runIf(process.platform === 'linux')(
    'may have several workers, which its pids tell apart',
    async () => {
      const one = start('sleep', ['60']);
      expect(await provablyDead(workerOf(one.pid ?? 0, pod), { ...here, ...pod })).toBe(false);
    },
  );
});

describe.runIf(process.platform === 'linux')('a child that outlived its parent', () => {
  test('is killed before that counts as dead, also when it is frozen', async () => {
    const address = newWatchdogAddress();
    const child = spawnChild(address, () => {});
    child.signal('SIGSTOP');
    expect(await provablyDead(await deadWorker({ watchdog: watchdogMark(address) }), here)).toBe(true);
    expect(await child.exited).toMatchObject({ signal: 'SIGKILL' });
  });

  test('is found whatever its task has made of its title', async () => {
    const address = newWatchdogAddress();
    const script = "process.title = 'x'; console.log('titled'); setInterval(() => {}, 1000)";
    const env = { ...process.env, HOLDFAST_WATCHDOG: watchdogMark(address) };
    const child = start(process.execPath, ['-e', script], { env });
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const exited = once(child, 'exit');
    child.kill('SIGSTOP');
    expect(await provablyDead(await deadWorker({ watchdog: watchdogMark(address) }), here)).toBe(true);
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  test('goes with its group', async () => {
    const mark = watchdogMark(newWatchdogAddress());
    const child = start('sh', ['-c', 'sleep 60 & echo $!; wait', mark]);
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    expect(await provablyDead(await deadWorker({ watchdog: mark }), here)).toBe(true);
    expect(processLives(Number(line.toString()))).toBe(false);
  });

  test('is left alone while its parent lives, and where it is another one’s', async () => {
    const [one, other] = [watchdogMark(newWatchdogAddress()), watchdogMark(newWatchdogAddress())];
    const child = start('sh', ['-c', 'echo; sleep 60', one]);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    expect(await provablyDead(workerOf(child.pid ?? 0, { watchdog: one }), here)).toBe(false);
    expect(await provablyDead(await deadWorker({ watchdog: other }), here)).toBe(true);
    expect(processLives(child.pid ?? 0)).toBe(true);
  });

  test('may be hidden where another user started it', async () => {
    const worker = await deadWorker({ watchdog: '@nobody-has-it', user: '1' });
    expect(await provablyDead(worker, { ...here, user: '2' })).toBe(false);
    expect(await provablyDead(worker, { ...here, user: '1' })).toBe(true);
    expect(await provablyDead(worker, { ...here, user: '0' })).toBe(true);
  });
});

const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

test.runIf(canMount)('a process that /proc hides is not taken for dead', () => {
  const one = start('sleep', ['60']);
  const worker = JSON.stringify(workerOf(one.pid ?? 0));
  const url = JSON.stringify(compiledFile(import.meta.url, './provably-dead.js').href);
  const script = `import(${url}).then((m) => m.provablyDead(${worker}, ${JSON.stringify(here)})).then(console.log)`;
  const hidden = `mount -t tmpfs none /proc/${one.pid} && exec ${process.execPath} -e "$1"`;
  const { stdout } = spawnSync('unshare', ['--mount', 'sh', '-c', hidden, 'sh', script], {
    encoding: 'utf8',
  });
  expect(stdout.trim()).toBe('false');
});
