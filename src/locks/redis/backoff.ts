const shortestMs = 50;
const longestMs = 1_500;

/** How long to wait before another attempt to connect, in milliseconds. The jitter keeps a fleet from coming in step. */
export function backoff(attempt: number): number {
  const whole = Math.min(longestMs, shortestMs * 2 ** Math.min(attempt, 10));
  return whole * (0.5 + Math.random() / 2);
}
