import type { Logger } from '../log.js';
import { shown } from '../shown.js';
import { plainChildError } from './child-error.js';
import type { ChildLogLine } from './child-pool.js';

const longestLine = 65_536;

/** A logger in a child: its lines go to the parent, which has the log. Whatever they hold, logging never throws. */
export function childLogger(send: (line: ChildLogLine) => void): Logger {
  const at =
    (level: ChildLogLine['level']) =>
    (fields: object, message: unknown): void =>
      send({ level, fields: plainFields(fields), message: textOf(message).slice(0, longestLine) });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Task files are JavaScript too: no type keeps them from logging something else. */
function textOf(message: unknown): string {
  return typeof message === 'string' ? message : shown(message, longestLine);
}

function plainFields(fields: object): object {
  try {
    const text = JSON.stringify(fields, plainValue);
    return text.length > longestLine
      ? { unlogged: `${text.length} characters` }
      : (JSON.parse(text) as object);
  } catch (error) {
    return { unlogged: shown(error) };
  }
}

function plainValue(_: string, value: unknown): unknown {
  if (value instanceof Error) return plainChildError(value);
  return typeof value === 'bigint' ? String(value) : value;
}
