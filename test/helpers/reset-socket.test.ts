import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resetSocket } from './reset-socket.js';

const server = createServer({ allowHalfOpen: true });
beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
afterAll(() => void server.close());

async function connected(): Promise<{ socket: Socket; other: Socket }> {
  const accepted = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  await once(socket, 'connect');
  const [other] = (await accepted) as [Socket];
  return { socket, other };
}

test('the other end is told that it is reset', async () => {
  const { socket, other } = await connected();
  const failed = once(other, 'error');
  resetSocket(socket);
  expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test('one whose end is being sent is closed, too', async () => {
  const { socket, other } = await connected();
  other.on('error', () => {});
  const closed = once(socket, 'close');
  socket.end();
  resetSocket(socket);
  await closed;
  other.destroy();
});
