import { describe, expect, it } from 'vitest';
import { OpenOnce } from './open-once.js';

describe('OpenOnce', () => {
  it('opens once for all who ask', async () => {
    let opened = 0;
    const once = new OpenOnce(async () => (opened += 1));
    expect(once.opened).toBeNull();
    expect(await Promise.all([once.get(), once.get()])).toEqual([1, 1]);
    expect(await once.get()).toBe(1);
    expect(once.opened).toBe(1);
  });

  it('tries again after a failure, for whoever asks next', async () => {
    let tries = 0;
    const once = new OpenOnce(async () => {
      tries += 1;
      if (tries === 1) throw new Error('down');
      return 'open';
    });
    await expect(Promise.all([once.get(), once.get()])).rejects.toThrow('down');
    expect(await once.ended()).toBeNull();
    expect(await once.get()).toBe('open');
    expect(tries).toBe(2);
    expect(await once.ended()).toBe('open');
  });

  it('tells, without opening anything, that nothing is open', async () => {
    const once = new OpenOnce(() => expect.unreachable());
    expect(await once.ended()).toBeNull();
  });
});
