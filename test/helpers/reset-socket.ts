import type { Socket } from 'node:net';

/**
 * Resets a connection. One whose end is being sent is closed instead: there Node's own reset fails with EINVAL, the handle is
 * never closed, and the process never exits, since it waits for that.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
