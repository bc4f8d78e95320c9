import pg from 'pg';
import { HoldfastError, Unavailable } from '../errors.js';

/**
 * SQLSTATEs that say "not now": connection exceptions, resources exhausted, the server shutting down or starting,
 * a limit that ran out, deadlocks and serialization failures, a standby, errors of the system below.
 */
const outages = /^(?:08...|53...|57P0.|57014|55P03|25P03|25006|40001|40P01|58...)$/;

/** Whether an error of the server with this SQLSTATE passes by itself, whatever was asked of it. */
export function isOutage(sqlState: unknown): boolean {
  return typeof sqlState === 'string' && outages.test(sqlState);
}

/** The error of a query as the port throws it. */
export function queryError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof HoldfastError) return error;
  if (error instanceof pg.DatabaseError) {
    return isOutage(error.code) ? unavailable(error) : error;
  }
  // The driver reports a lost connection or a time limit as a plain Error; a TypeError is a bug.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return unavailable(error);
}

/** A connection that could not be made, for whatever reason the server or the network gives. */
export function unavailable(error: unknown): Unavailable {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : String(first);
  return new Unavailable(`PostgreSQL is not available: ${message}`, { cause: error });
}

/** Whether the connection is fit for another call after one that failed with `error`. */
export function keepsSession(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(?:57P0.|25P03|08...)$/.test(error.code ?? '');
}
