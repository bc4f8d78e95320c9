/** What Holdfast logs through: pino's loggers fit, and so does any object with these four methods. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs nothing: the default in the library. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** A logger that adds `bound` to the fields of every line. */
export function loggerWith(logger: Logger, bound: object): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...bound, ...fields }, message),
    info: (fields, message) => logger.info({ ...bound, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...bound, ...fields }, message),
    error: (fields, message) => logger.error({ ...bound, ...fields }, message),
  };
}

/** A logger that never throws: what fails in a log must not count as a failure of what is logged. */
export function safeLogger(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      try {
        logger[level](fields, message);
      } catch {
        // Nowhere else to tell it.
      }
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
