/** What went wrong, by stable code. One table: every code has its meaning and its HTTP status here. */
export const errorCodes = {
  NotConfigured: { status: 500, meaning: 'A URL or an option that this needs was not given.' },
  InvalidTask: { status: 422, meaning: 'A task, its payload, its resources or an option is malformed.' },
  PayloadTooLarge: { status: 413, meaning: 'A payload exceeds the limit.' },
  UnknownTask: { status: 422, meaning: 'No definition of that name is loaded here.' },
  NotFound: { status: 404, meaning: 'No task, worker or schedule with that id.' },
  WrongState: { status: 409, meaning: 'The task is in a state that does not allow this.' },
  WaitTimeout: { status: 504, meaning: 'The task had not settled within the time given.' },
  LockTimeout: { status: 504, meaning: 'The lock was not granted within the time given.' },
  LockLost: { status: 409, meaning: 'The lock is not held any more, or its holder cannot prove that it is.' },
  ResourcesBusy: { status: 409, meaning: 'A resource is held or waited for by somebody else.' },
  WouldDeadlock: { status: 409, meaning: 'What is waited for cannot come before who waits for it goes on.' },
  Fenced: { status: 409, meaning: 'This worker may no longer act: it could not prove that it is alive.' },
  DataDirLocked: { status: 500, meaning: 'Another process has the embedded data folder open.' },
  WrongTable: {
    status: 500,
    meaning:
      'The namespace uses another lock table than the one configured, or a format of it that another version keeps.',
  },
  WrongSchema: {
    status: 500,
    meaning:
      'The database schema is older than this build needs, or lacks what a newer version has taken away.',
  },
  UnsafeServer: { status: 500, meaning: 'A server is set up so that a guarantee cannot be kept.' },
  ScriptFailed: {
    status: 500,
    meaning: 'A script of the lock table failed inside Redis, and may have been executed half-way.',
  },
  Unavailable: { status: 503, meaning: 'PostgreSQL or Redis cannot be reached, or did not answer in time.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Every error that Holdfast throws on purpose. `code` is stable; the message may change. */
export class HoldfastError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = code;
    this.code = code;
  }
}

export class NotConfigured extends HoldfastError {
  constructor(message: string) {
    super('NotConfigured', message);
  }
}

export class InvalidTask extends HoldfastError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('InvalidTask', message, options);
  }
}

export class PayloadTooLarge extends HoldfastError {
  constructor(message: string) {
    super('PayloadTooLarge', message);
  }
}

export class UnknownTask extends HoldfastError {
  constructor(message: string) {
    super('UnknownTask', message);
  }
}

export class NotFound extends HoldfastError {
  constructor(message: string) {
    super('NotFound', message);
  }
}

export class WrongState extends HoldfastError {
  constructor(message: string) {
    super('WrongState', message);
  }
}

export class WaitTimeout extends HoldfastError {
  constructor(message: string) {
    super('WaitTimeout', message);
  }
}

export class LockTimeout extends HoldfastError {
  constructor(message: string) {
    super('LockTimeout', message);
  }
}

export class LockLost extends HoldfastError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('LockLost', message, options);
  }
}

export class ResourcesBusy extends HoldfastError {
  constructor(message: string) {
    super('ResourcesBusy', message);
  }
}

export class WouldDeadlock extends HoldfastError {
  constructor(message: string) {
    super('WouldDeadlock', message);
  }
}

export class Fenced extends HoldfastError {
  constructor(message: string) {
    super('Fenced', message);
  }
}

export class DataDirLocked extends HoldfastError {
  constructor(message: string) {
    super('DataDirLocked', message);
  }
}

export class WrongTable extends HoldfastError {
  constructor(message: string) {
    super('WrongTable', message);
  }
}

export class WrongSchema extends HoldfastError {
  constructor(message: string) {
    super('WrongSchema', message);
  }
}

export class UnsafeServer extends HoldfastError {
  constructor(message: string) {
    super('UnsafeServer', message);
  }
}

export class ScriptFailed extends HoldfastError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('ScriptFailed', message, options);
  }
}

export class Unavailable extends HoldfastError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('Unavailable', message, options);
  }
}
