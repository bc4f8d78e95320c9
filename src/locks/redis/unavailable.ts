import { ScriptFailed, Unavailable } from '../../errors.js';
import { Silence } from './within-limit.js';

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

/**
 * The same for a script. One that failed inside a server that works fails again: another program has written to
 * the keys of the namespace, or the user lacks a permission.
 */
export function scriptFailure(script: string, error: unknown): ScriptFailed | Unavailable {
  if (!isScriptError(error)) return unavailable(`run ${script}`, error);
  const why = error.message.replace(/ script: .*$/s, '');
  return new ScriptFailed(
    `The script ${script} failed inside Redis: ${plain(why)} It may have been executed half-way.`,
    {
      cause: error,
    },
  );
}

/** The server had accepted the script, and is not one that may not be written to just now. */
export function isScriptError(error: unknown): error is Error {
  return error instanceof Error && /^(ERR|WRONGTYPE) .*(user_script|script: )/s.test(error.message);
}

/** Whether it means that no answer came in time, on a connection that was there. */
export function isSilence(error: unknown): boolean {
  const cause = error instanceof Unavailable ? error.cause : error;
  return cause instanceof Silence;
}

/** Messages of the client library that say how it is built rather than what happened. */
function plain(why: string): string {
  if (why.includes("isn't writeable")) return 'there is no connection.';
  if (why.includes('max retries per request') || why.includes('Connection is closed')) {
    return 'the connection was lost.';
  }
  return why.endsWith('.') ? why : `${why}.`;
}

/** Errors that tell that this server is no longer the one to talk to: the next connection may find that one. */
export function isForAnotherServer(error: Error): boolean {
  return /^(READONLY|MOVED|CLUSTERDOWN|MASTERDOWN)\b/.test(error.message);
}
