import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compiledFile } from '../entry-point.js';
import type { FromChild, ToChild } from './child-messages.js';
import type { ChildPipe } from './child-pipe.js';
import { fromChild } from './child-messages.js';
import { childPipe } from './child-pipe.js';
import { killGroup, signalGroup } from './process-group.js';
import { watchdogMark, watchdogVariable } from './watchdog-address.js';

export interface ChildExit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** Between the end of a process and the end of its pipe, whichever comes first. */
const pipeGraceMs = 1_000;

/** A process that leads a group of its own, with a pipe to it. */
export interface SpawnedChild {
  /**
   * Resolves when the process is gone, the rest of its group was killed, and all that it had sent was heard.
   * Rejects where no process could be had.
   */
  exited: Promise<ChildExit>;
  send(message: ToChild): void;
  /** To the whole group. */
  signal(signal: NodeJS.Signals): void;
}

/**
 * Starts a child. What it prints, and what its own children print, goes to this process's stderr: its stdout
 * carries results only. Its command line, which a task may overwrite with another title, and the environment that it
 * is started with name its watchdog, by which it is found where its parent has died.
 */
export function spawnChild(watchdogAddress: string, onMessage: (message: FromChild) => void): SpawnedChild {
  const file = fileURLToPath(compiledFile(import.meta.url, './child-main.js'));
  try {
    const mark = watchdogMark(watchdogAddress);
    const env = { ...process.env, [watchdogVariable]: mark };
    const child = spawn(process.execPath, [file, mark], {
      detached: true,
      env,
      stdio: ['ignore', 2, 2, 'pipe'],
    });
    return child.pid === undefined ? notSpawned(once(child, 'spawn')) : spawned(child, child.pid, onMessage);
  } catch (error) {
    return notSpawned(Promise.reject(error));
  }
}

function spawned(child: ChildProcess, leader: number, onMessage: (message: FromChild) => void): SpawnedChild {
  const stream = child.stdio[3] as Duplex;
  let gone = false;
  const signal = (name: NodeJS.Signals): void => {
    if (!gone) signalGroup(leader, name);
  };
  const hear = (message: unknown): void => onMessage(fromChild(message));
  const pipe: ChildPipe<ToChild> = childPipe(stream, hear, () => signal('SIGKILL'));
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (exitCode, signalName) => resolve({ exitCode, signal: signalName }));
  });
  // Such as a failed kill: whether the process is gone is for 'exit' to tell.
  child.on('error', () => {});
  void closed.then(async () => {
    // It ends, and will soon have an exit code; or its handler closed the pipe, and nobody could reach it.
    await withLimit(exited, pipeGraceMs);
    signal('SIGKILL');
  });
  return { exited: exitOf(), send: (message) => pipe.send(message), signal };

  async function exitOf(): Promise<ChildExit> {
    const exit = await exited;
    await killGroup(leader);
    // From here on the pid may be another process's.
    gone = true;
    await withLimit(closed, pipeGraceMs);
    pipe.close();
    return exit;
  }
}

async function withLimit(event: Promise<unknown>, limitMs: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([event, pause(limitMs, null, { signal: over.signal }).catch(() => {})]);
  over.abort();
}

function notSpawned(failure: Promise<unknown>): SpawnedChild {
  const exited = failure.then((): never => {
    throw new Error('A child process without a pid was started.');
  });
  return { exited, send: () => {}, signal: () => {} };
}
