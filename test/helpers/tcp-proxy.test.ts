import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from './tcp-proxy.js';
import { waitUntil } from './wait-until.js';

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (data) => {
    heard += data.toString();
    socket.write(`<${data.toString()}>`);
  });
});
let heard: string;
let proxy: TcpProxy;

beforeEach(async () => {
  heard = '';
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  proxy = await startProxy(`postgres://user:secret@127.0.0.1:${port}/base`);
});

afterEach(async () => {
  await proxy.stop();
  await new Promise((resolve) => server.close(resolve));
});

function client(): { socket: Socket; text: () => string; closed: () => boolean } {
  const { hostname, port } = new URL(proxy.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  socket.on('error', () => {});
  return { socket, text: () => text, closed: () => socket.destroyed };
}

test('the URL keeps all but the address', () => {
  expect(proxy.url).toMatch(/^postgres:\/\/user:secret@127\.0\.0\.1:\d+\/base$/);
});

test('silence holds both directions, closes nothing, and heal delivers what was held', async () => {
  const { socket, text, closed } = client();
  socket.write('a');
  await waitUntil(() => text() === '<a>', 'the echo came');
  proxy.silence();
  socket.write('b');
  const late = client();
  late.socket.write('c');
  await once(late.socket, 'connect');
  await delay(100);
  expect([heard, text(), late.text(), closed(), late.closed()]).toEqual(['a', '<a>', '', false, false]);
  proxy.heal();
  await waitUntil(() => text() === '<a><b>' && late.text() === '<c>', 'the held bytes came');
});

test('silence of replies lets requests through', async () => {
  const { socket, text } = client();
  await once(socket, 'connect');
  proxy.silence('replies');
  socket.write('a');
  await waitUntil(() => heard === 'a', 'the server heard it');
  expect(text()).toBe('');
  proxy.heal();
  await waitUntil(() => text() === '<a>', 'the reply came');
});

test('a client that gives up during a silence still has its request delivered after it', async () => {
  const { socket } = client();
  await once(socket, 'connect');
  proxy.silence();
  socket.write('late');
  await delay(50);
  socket.destroy();
  await delay(50);
  expect(heard).toBe('');
  proxy.heal();
  await waitUntil(() => heard === 'late', 'the request arrived');
});

test('reset breaks what is open and serves what comes', async () => {
  const first = client();
  await once(first.socket, 'connect');
  first.socket.write('a');
  await waitUntil(() => first.text() === '<a>', 'the echo came');
  proxy.reset();
  await waitUntil(first.closed, 'the connection broke');
  const second = client();
  second.socket.write('b');
  await waitUntil(() => second.text() === '<b>', 'the echo came');
});

test('latency delays both directions and keeps the order', async () => {
  proxy.latency(60);
  const { socket, text } = client();
  const started = performance.now();
  socket.write('a');
  await waitUntil(() => heard === 'a', 'the server heard it');
  proxy.latency(0);
  socket.write('b');
  await waitUntil(() => text().includes('b'), 'both echoes came');
  expect(performance.now() - started).toBeGreaterThan(55);
  expect(text()).toMatch(/^<a><?b>|^<ab>/);
});
