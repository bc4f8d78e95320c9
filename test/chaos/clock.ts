/** Microseconds of the machine's monotonic clock: the same in each of its processes. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

export const second = 1_000_000;
