import { randomBytes } from 'node:crypto';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeAnswer } from './lock-socket.js';
import type { SocketFolder } from './socket-folder.js';
import { DataDirLocked } from '../errors.js';
import { folderError } from './folder-error.js';
import { LockSocket, probe } from './lock-socket.js';
import { openSocketFolder } from './socket-folder.js';

/** The lock of a data folder, held by this process until `release`, or until the process ends in any way. */
export interface DataFolderLock {
  release(): Promise<void>;
}

const attempts = 20;

/**
 * Locks the folder, which is made where it is missing, against every other process of this kernel, also in
 * other containers. Throws DataDirLocked while another process has it, NotConfigured where it can hold no data,
 * Unavailable where no socket can be made.
 *
 * The lock is a Unix socket in the folder on which its owner listens. Each candidate listens under a name of its
 * own, never used before or again, and only then asks all other names: of two candidates, the one that listened
 * later finds the other, so never do both stay. A file that nobody listens on is stale. Only who stays removes
 * stale files: one that was bound but not yet listened on may be among them, so a candidate whose own file is
 * gone withdraws. It looks for that file last: then, whoever could have removed it is found or is gone.
 */
export async function lockDataFolder(dataDir: string): Promise<DataFolderLock> {
  const { folder, sockets } = await openFolder(dataDir);
  try {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const socket = await tryToLock(folder, sockets);
      if (socket !== null) return { release: () => release(socket, sockets) };
      await sleep(Math.random() * 20 * attempt);
    }
    throw new DataDirLocked(`Other processes keep trying to open the data folder ${folder}. Try again.`);
  } catch (error) {
    await sockets.close();
    if (error instanceof DataDirLocked) throw error;
    throw folderError(folder, error);
  }
}

async function openFolder(dataDir: string): Promise<{ folder: string; sockets: SocketFolder }> {
  try {
    await mkdir(dataDir, { recursive: true });
    const folder = await realpath(dataDir);
    return { folder, sockets: await openSocketFolder(folder) };
  } catch (error) {
    throw folderError(dataDir, error);
  }
}

/** null: another candidate was met; to be tried again. */
async function tryToLock(folder: string, sockets: SocketFolder): Promise<LockSocket | null> {
  if ((await askAll(await lockNames(folder), folder, sockets)) === 'candidate') return null;
  const name = `lock-${randomBytes(8).toString('hex')}.sock`;
  const socket = new LockSocket();
  await socket.listen(sockets.pathOf(name));
  try {
    if (await mayStay(name, folder, sockets)) {
      socket.standing = 'owner';
      return socket;
    }
  } catch (error) {
    await socket.close();
    throw error;
  }
  await socket.close();
  return null;
}

async function mayStay(own: string, folder: string, sockets: SocketFolder): Promise<boolean> {
  const others = (await lockNames(folder)).filter((name) => name !== own);
  if ((await askAll(others, folder, sockets)) === 'candidate') return false;
  if (!(await lockNames(folder)).includes(own)) return false;
  for (const stale of others) await rm(join(folder, stale), { force: true });
  return true;
}

/** Throws DataDirLocked where one of the names has an owner, or somebody who does not say. */
async function askAll(
  names: string[],
  folder: string,
  sockets: SocketFolder,
): Promise<'nobody' | 'candidate'> {
  let found: 'nobody' | 'candidate' = 'nobody';
  for (const name of names) {
    const answer = await probe(sockets.pathOf(name));
    if (answer.status === 'candidate') found = 'candidate';
    if (answer.status === 'owner' || answer.status === 'silent') throw lockedBy(answer, folder);
  }
  return found;
}

function lockedBy(answer: ProbeAnswer, folder: string): DataDirLocked {
  const who = answer.status === 'owner' ? `Process ${answer.pid}` : 'A process that does not answer';
  return new DataDirLocked(
    `${who} has the data folder ${folder} open. Embedded is one process: stop that one, or use another folder.`,
  );
}

async function lockNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^lock-[0-9a-f]{16}\.sock$/.test(name));
}

async function release(socket: LockSocket, sockets: SocketFolder): Promise<void> {
  await socket.close();
  await sockets.close();
}
