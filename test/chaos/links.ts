import { startProxy, type TcpProxy } from '../helpers/tcp-proxy.js';

/** How one process reaches the two stores: each through a network of its own. */
export interface Links {
  postgres: TcpProxy;
  /** One for each server that Redis may be found on. */
  redis: TcpProxy[];
  /** Port of the server → port of the proxy. */
  redirect: Record<number, number>;
  stop(): Promise<void>;
}

export async function startLinks(postgresUrl: string, redisPorts: number[]): Promise<Links> {
  const postgres = await startProxy(postgresUrl);
  const redirect: Record<number, number> = {};
  const redis: TcpProxy[] = [];
  for (const port of redisPorts) {
    const proxy = await startProxy(`redis://127.0.0.1:${port}`);
    redirect[port] = Number(new URL(proxy.url).port);
    redis.push(proxy);
  }
  const stop = async (): Promise<void> => {
    await Promise.all([postgres, ...redis].map((proxy) => proxy.stop()));
  };
  return { postgres, redis, redirect, stop };
}
