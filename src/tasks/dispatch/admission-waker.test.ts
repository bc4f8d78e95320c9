import { describe, expect, it } from 'vitest';
import { AdmissionWaker } from './admission-waker.js';

describe('AdmissionWaker', () => {
  it('sends one more wake-up for all that committed while one was under way', async () => {
    const gates: (() => void)[] = [];
    const waker = new AdmissionWaker({ wakeAdmission: () => new Promise<void>((open) => gates.push(open)) });
    for (let n = 0; n < 100; n += 1) waker.wake();
    expect(gates).toHaveLength(1);
    gates[0]?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(gates).toHaveLength(2);
    gates[1]?.();
    await waker.idle();
    expect(gates).toHaveLength(2);
    waker.wake();
    expect(gates).toHaveLength(3);
  });

  it('works on after a wake-up that failed', async () => {
    let calls = 0;
    const waker = new AdmissionWaker({
      wakeAdmission: () => {
        calls += 1;
        return Promise.reject(new Error('out of reach'));
      },
    });
    waker.wake();
    await waker.idle();
    waker.wake();
    await waker.idle();
    expect(calls).toBe(2);
  });
});
