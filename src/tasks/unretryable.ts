const brand = Symbol.for('holdfast.unretryable');

/** Thrown by a handler to fail its task at once, whatever attempts are left. */
export class Unretryable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Unretryable';
    Object.defineProperty(this, brand, { value: true });
  }
}

/** By brand, not by class: a task file may have loaded another copy of this package. */
export function isUnretryable(error: unknown): boolean {
  try {
    return typeof error === 'object' && error !== null && brand in error;
  } catch {
    // Proxies may be thrown as well, and refuse to be asked.
    return false;
  }
}
