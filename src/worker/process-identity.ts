/**
 * What tells this life of a process from every other one with the same pid, for the row of its worker: `bootId`,
 * `pidNamespace` and `startTime`, as far as the platform tells.
 */
export function processIdentity(): Record<string, string> {
  throw new Error('not written yet');
}
