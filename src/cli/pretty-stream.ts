import type { PrettyStream } from 'pino-pretty';
import { build } from 'pino-pretty';

/** Turns log lines into text for people. Loaded only where a terminal is. */
export function prettyStream(destination: number): PrettyStream {
  return build({ destination, sync: true, translateTime: 'HH:MM:ss.l' });
}
