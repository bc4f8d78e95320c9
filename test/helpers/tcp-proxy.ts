import { createServer, connect, type Server, type Socket } from 'node:net';
import { resetSocket } from './reset-socket.js';
import { Direction } from './tcp-proxy-direction.js';

/** A network between a client and a server that can be cut, slowed down and mended. */
export interface TcpProxy {
  /** The target's URL with the proxy's address in place of its own. */
  url: string;
  /**
   * Goes silent without closing anything, as a network does that drops packets: both ends are half-open, new
   * connections are accepted and stay mute. `replies`: requests still arrive, and only answers are held.
   */
  silence(what?: 'everything' | 'replies'): void;
  /** Forwards again, first what was held meanwhile, as TCP would send it again. */
  heal(): void;
  /** Resets every connection there is; new ones are served. */
  reset(): void;
  /** Where new connections lead from now on. */
  leadTo(url: string): void;
  /** Resets every connection and refuses new ones, as where no server runs. */
  refuse(): Promise<void>;
  /** Ends that, on the same port. */
  accept(): Promise<void>;
  /** How many clients are connected. */
  readonly connections: number;
  /** Delays every chunk in both directions by so many milliseconds. */
  latency(ms: number): void;
  stop(): Promise<void>;
}

interface Pair {
  client: Socket;
  upstream: Socket;
  requests: Direction;
  replies: Direction;
}

/** Starts a proxy on a free loopback port to the host and port of `targetUrl`. */
export async function startProxy(targetUrl: string): Promise<TcpProxy> {
  let target = new URL(targetUrl);
  const pairs = new Set<Pair>();
  const network = { silent: { requests: false, replies: false }, latencyMs: 0 };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
    const pair: Pair = {
      client,
      upstream,
      requests: new Direction(client, upstream, network.latencyMs, network.silent.requests),
      replies: new Direction(upstream, client, network.latencyMs, network.silent.replies),
    };
    pairs.add(pair);
    whenBothClosed(pair, () => pairs.delete(pair));
  });
  const port = await listen(server);
  const silent = (requests: boolean, replies: boolean): void => {
    network.silent = { requests, replies };
    for (const pair of pairs) {
      pair.requests.silence(requests);
      pair.replies.silence(replies);
    }
  };
  const reset = (): void => {
    for (const { client, upstream } of pairs) {
      resetSocket(client);
      resetSocket(upstream);
    }
  };
  const refuse = async (): Promise<void> => {
    const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : undefined;
    reset();
    await closed;
  };
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    silence: (what = 'everything') => silent(what === 'everything', true),
    heal: () => silent(false, false),
    reset,
    leadTo: (to) => {
      target = new URL(to);
    },
    refuse: () => refuse(),
    accept: async () => void (await listen(server, port)),
    get connections() {
      return pairs.size;
    },
    latency: (ms) => {
      network.latencyMs = ms;
      for (const { requests, replies } of pairs) requests.latencyMs = replies.latencyMs = ms;
    },
    stop: () => refuse(),
  };
}

function whenBothClosed({ client, upstream }: Pair, then: () => void): void {
  let open = 2;
  const closed = (): void => {
    if (--open === 0) then();
  };
  client.once('close', closed);
  upstream.once('close', closed);
}

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as { port: number }).port;
}
