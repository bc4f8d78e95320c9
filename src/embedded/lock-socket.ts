import { connect, createServer, type Server } from 'node:net';

/** What a lock socket tells whoever connects: that its process owns the folder, or still tries to. */
export type Standing = 'owner' | 'candidate';

/** `stale`: nobody listens. `silent`: somebody listens and says nothing, as a frozen process does. */
export type ProbeAnswer = { status: 'stale' } | { status: 'silent' } | { status: Standing; pid: number };

const greetingLimitMs = 500;

/** A socket whose being listened on is the lock: the kernel ends that with the process, however it ends. */
export class LockSocket {
  readonly #server: Server;
  standing: Standing = 'candidate';

  constructor() {
    this.#server = createServer((connection) => {
      connection.on('error', () => connection.destroy());
      connection.end(`${this.standing} ${process.pid}\n`);
    });
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, () => resolve());
    });
  }

  /** Stops listening and removes the file. */
  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Asks who listens at `path`. Rejects where that cannot be told. */
export function probe(path: string): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const connection = connect(path);
    let greeting = '';
    const settle = (answer: ProbeAnswer): void => {
      clearTimeout(timer);
      connection.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => settle({ status: 'silent' }), greetingLimitMs);
    connection.setEncoding('utf8');
    connection.on('data', (text) => (greeting += text));
    connection.on('end', () => settle(parseGreeting(greeting)));
    connection.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') return settle({ status: 'stale' });
      // A queue of connections that is full belongs to somebody who listens.
      if (error.code === 'EAGAIN' || error.code === 'ECONNRESET' || error.code === 'EPIPE') {
        return settle({ status: 'silent' });
      }
      clearTimeout(timer);
      reject(error);
    });
  });
}

function parseGreeting(greeting: string): ProbeAnswer {
  const [, status, pid] = /^(owner|candidate) (\d+)\n$/.exec(greeting) ?? [];
  if (status !== 'owner' && status !== 'candidate') return { status: 'silent' };
  return { status, pid: Number(pid) };
}
