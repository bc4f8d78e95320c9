import { pino } from 'pino';
import type { Logger } from '../log.js';

const stderr = 2;

/** The least that is logged. */
export type LogLevel = 'debug' | 'info' | 'warn';

/** Logs to stderr: JSON lines, or text for people where stderr is a terminal. */
export async function createLogger(level: LogLevel): Promise<Logger> {
  const stream = process.stderr.isTTY
    ? (await import('./pretty-stream.js')).prettyStream(stderr)
    : pino.destination({ dest: stderr, sync: true });
  const logger: Logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return logger;
}
