import { asTextOrNull } from '../reply.js';

/** ISO 8601, UTC, from microseconds since 1970 as a decimal string. */
export function timestampOf(micros: unknown): string {
  return new Date(Number(micros) / 1_000).toISOString();
}

export function timestampOrNull(micros: unknown): string | null {
  return asTextOrNull(micros) === null ? null : timestampOf(micros);
}
