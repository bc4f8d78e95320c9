import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compiledFile } from '../entry-point.js';
import type { FromChild, ToChild } from './child-messages.js';
import type { ChildPipe } from './child-pipe.js';
import { childPipe } from './child-pipe.js';
import { killGroup, signalGroup } from './process-group.js';

export interface ChildExit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

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
 * carries results only.
 */
export function spawnChild(onMessage: (message: FromChild) => void): SpawnedChild {
  const file = fileURLToPath(compiledFile(import.meta.url, './child-main.js'));
  try {
    const child = spawn(process.execPath, [file], { detached: true, stdio: ['ignore', 2, 2, 'pipe'] });
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
  const pipe: ChildPipe<ToChild> = childPipe(stream, onMessage, () => signal('SIGKILL'));
  // Such as a failed kill: whether the process is gone is for 'exit' to tell.
  child.on('error', () => {});
  return { exited: exitOf(), send: (message) => pipe.send(message), signal };

  async function exitOf(): Promise<ChildExit> {
    const closed = new Promise((resolve) => stream.once('close', resolve));
    const [exitCode, signalName] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    await killGroup(leader);
    // From here on the pid may be another process's.
    gone = true;
    const heard = new AbortController();
    await Promise.race([closed, pause(1_000, null, { signal: heard.signal }).catch(() => {})]);
    heard.abort();
    pipe.close();
    return { exitCode, signal: signalName };
  }
}

function notSpawned(failure: Promise<unknown>): SpawnedChild {
  const exited = failure.then((): never => {
    throw new Error('A child process without a pid was started.');
  });
  return { exited, send: () => {}, signal: () => {} };
}
