const epochDigits = 12;
const counterDigits = 16;

/**
 * A fence: (epoch, counter) as one decimal string of fixed width, so that comparing texts compares fences.
 * A later exclusive holder of a resource always has a larger one.
 */
export function fenceText(epoch: string, counter: string): string {
  return epoch.padStart(epochDigits, '0') + counter.padStart(counterDigits, '0');
}

/** Whether it is the fence of a task or a lock. */
export function isFence(text: unknown): text is string {
  return typeof text === 'string' && text.length === epochDigits + counterDigits && /^\d+$/.test(text);
}
