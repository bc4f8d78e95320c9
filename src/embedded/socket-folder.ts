import { mkdtemp, open, rm, symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A short way to name the sockets in a folder. */
export interface SocketFolder {
  pathOf(name: string): string;
  close(): Promise<void>;
}

/** What sun_path takes on every Unix, without the NUL at its end. */
const longestSocketPath = 103;
const longestName = `lock-${'0'.repeat(16)}.sock`;

/**
 * The address of a Unix socket takes about 100 bytes, a folder's path any number. A folder with a long path is
 * reached through its descriptor on Linux, elsewhere through a symbolic link in the temporary folder.
 */
export async function openSocketFolder(folder: string): Promise<SocketFolder> {
  if (Buffer.byteLength(join(folder, longestName)) <= longestSocketPath) {
    return { pathOf: (name) => join(folder, name), close: () => Promise.resolve() };
  }
  if (process.platform === 'linux') {
    const handle = await open(folder, 'r');
    return { pathOf: (name) => `/proc/self/fd/${handle.fd}/${name}`, close: () => handle.close() };
  }
  const parent = await mkdtemp(join(tmpdir(), 'hf-'));
  const link = join(parent, 'd');
  await symlink(folder, link);
  return {
    pathOf: (name) => join(link, name),
    close: async () => {
      await unlink(link);
      await rm(parent, { recursive: true });
    },
  };
}
