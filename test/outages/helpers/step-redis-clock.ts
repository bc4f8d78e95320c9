import { Redis } from 'ioredis';

const times = ['entered_at', 'granted_at', 'owned_at'];

/**
 * Leaves the table as a clock would that was stepped: no other clock than its own can be given to a Redis alone. It reads
 * it for the times of holds, and for keys that expire; `milliseconds` are added to the one and taken off the other.
 */
export async function stepRedisClock(url: string, namespace: string, milliseconds: number): Promise<number> {
  const redis = new Redis(url);
  let shifted = 0;
  try {
    for await (const keys of redis.scanStream({ match: `{${namespace}}:*`, count: 1_000 })) {
      for (const key of keys as string[]) {
        const left = await redis.pttl(key);
        if (left > 0) await redis.pexpire(key, Math.max(1, left - milliseconds));
        if (!key.includes(':hold:')) continue;
        const stored = await redis.hmget(key, ...times);
        for (const [index, time] of stored.entries()) {
          if (time === null) continue;
          await redis.hset(key, times[index] ?? '', String(BigInt(time) + BigInt(milliseconds) * 1_000n));
          shifted += 1;
        }
      }
    }
    return shifted;
  } finally {
    redis.disconnect();
  }
}
