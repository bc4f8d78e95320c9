import type { Logger } from '../../src/log.js';

export interface LogLine {
  level: keyof Logger;
  message: string;
  fields: Record<string, unknown>;
}

/** Keeps what is logged, for a test to look at. */
export function collectingLogger(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      lines.push({ level, message, fields: fields as Record<string, unknown> });
    };
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    lines,
  };
}
