import { Unavailable } from '../../errors.js';

/**
 * What a failed command means to the caller: no answer, and an unknown outcome. It may have been executed, wholly
 * or half-way, or may still be executed later; every operation can be repeated.
 */
export function unavailable(doing: string, error: unknown): Unavailable {
  if (error instanceof Unavailable) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new Unavailable(`Redis did not ${doing}: ${plain(why)} It is unknown whether it was done.`, {
    cause: error,
  });
}

/** Whether it means that no answer came in time, on a connection that was there. */
export function isSilence(error: unknown): boolean {
  const cause = error instanceof Unavailable ? error.cause : error;
  return cause instanceof Error && cause.message === 'Command timed out';
}

/** Messages of the client library that say how it is built rather than what happened. */
function plain(why: string): string {
  if (why.includes("isn't writeable")) return 'there is no connection.';
  if (why.includes('Command timed out')) return 'no answer came in time.';
  if (why.includes('max retries per request') || why.includes('Connection is closed')) {
    return 'the connection was lost.';
  }
  return why.endsWith('.') ? why : `${why}.`;
}

/** Errors that tell that this server is no longer the one to talk to: the next connection may find that one. */
export function isForAnotherServer(error: Error): boolean {
  return /^(READONLY|MOVED|CLUSTERDOWN|MASTERDOWN)\b/.test(error.message);
}
