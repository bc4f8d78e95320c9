import { connect } from 'node:net';
import { requireProgram } from './programs.js';
import { startServerProcess, temporaryFolder, withFreePort } from './server-process.js';

export interface RedisServer {
  url: string;
  port: number;
  pid: number;
  dir: string;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone, whoever ended it. */
  exited: Promise<void>;
}

export interface RedisOptions {
  /** More arguments of redis-server, such as `['--maxmemory-policy', 'allkeys-lru']`. */
  args?: string[];
  /** To come back where an earlier server was; otherwise a free one. */
  port?: number;
}

/** Starts a real Redis without persistence on the loopback interface. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { port } = options;
  return port === undefined ? withFreePort((free) => startOn(free, options)) : startOn(port, options);
}

async function startOn(port: number, options: RedisOptions): Promise<RedisServer> {
  const dir = temporaryFolder('redis');
  const { pid, exited, kill, stop } = await startServerProcess({
    program: requireProgram('redis-server'),
    args: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
      ...['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'],
      ...(options.args ?? []),
    ],
    dir,
    stopSignal: 'SIGTERM',
    ready: () => pongs(port),
  });
  return { url: `redis://127.0.0.1:${port}`, port, pid, dir, stop, kill, exited };
}

/** Any reply will do: a server with a password answers NOAUTH. */
function pongs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('PING\r\n'));
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once('data', (data) => settle(!data.toString().startsWith('-LOADING')));
    socket.once('error', () => settle(false));
  });
}
