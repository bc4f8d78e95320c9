import type * as Ioredis from 'ioredis';
import { createRequire } from 'node:module';

/** Required, not imported: to import this CommonJS package takes twice as long, in every process that starts. */
const ioredis = createRequire(import.meta.url)('ioredis') as typeof Ioredis;

export const Redis: typeof Ioredis.Redis = ioredis.Redis;
export const AbstractConnector: typeof Ioredis.AbstractConnector = ioredis.AbstractConnector;
