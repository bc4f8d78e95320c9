import type { PostgresConnection } from './heartbeat.js';

export interface HeartbeatThreadData {
  memory: SharedArrayBuffer;
  ttlMs: number;
  watchdogAddress: string;
  /** Whether a fence ends this process. */
  killWhenFenced: boolean;
  /** null: the other thread is asked to beat. */
  postgres: { connection: PostgresConnection; beatText: string; stoppedText: string } | null;
}

export type FromHeartbeatThread =
  | { type: 'prepared' }
  | { type: 'beaten' }
  | { type: 'failed'; error: PlainError }
  | { type: 'ended' }
  | { type: 'beat-asked' };

export type ToHeartbeatThread =
  | { type: 'begin'; incarnation: string }
  | { type: 'stop' }
  | { type: 'state-changed' }
  | { type: 'beat-answered'; outcome: 'beaten' | 'reaped' }
  | { type: 'beat-failed'; error: PlainError };

/** An Error that is cloned to another thread loses its code, and an AggregateError its errors. */
export interface PlainError {
  message: string;
  code: string | null;
}

export function plainError(error: unknown): PlainError {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return { message: String(first), code: null };
  const { code } = first as NodeJS.ErrnoException;
  return { message: first.message, code: code ?? null };
}
