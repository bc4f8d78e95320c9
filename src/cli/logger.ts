import { pino } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { Logger } from '../log.js';

const stderr = 2;

/** Logs to stderr: JSON lines, or text for people where stderr is a terminal. */
export function createLogger(options: { verbose: boolean }): Logger {
  const level = options.verbose ? 'debug' : 'info';
  const stream = process.stderr.isTTY
    ? pretty({ destination: stderr, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' })
    : pino.destination({ dest: stderr, sync: true });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}
