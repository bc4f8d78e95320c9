import { describe, expect, test } from 'vitest';
import type { Wake } from '../lock-table.js';
import { ada, epoch, freshTable, hold, lane, type OpenTable } from './harness.conformance.js';

const never = new AbortController().signal;
/** Long enough to be no part of a test that passes. */
const long = 20_000;

export function describeWaking(open: OpenTable): void {
  describe('waking', () => {
    const current = freshTable(open);
    const wait = (lanes: string[] = [], timeoutMs = long, signal = never): Promise<Wake> =>
      current().table.waitForWake(epoch, lanes, timeoutMs, signal);

    test('a wake-up for admission wakes one of those who wait', async () => {
      const ended = new AbortController();
      const waiting = [wait([], long, ended.signal), wait([lane], long, ended.signal)];
      await current().table.wakeAdmission();
      expect(await Promise.race(waiting)).toBe('admission');
      ended.abort();
      expect((await Promise.all(waiting)).sort()).toEqual(['admission', 'timeout']);
    });

    test('a wake-up waits for the next who waits', async () => {
      await current().table.wakeAdmission();
      expect(await wait()).toBe('admission');
      expect(await wait([], 20)).toBe('timeout');
    });

    test('a grant wakes one who waits for its lane', async () => {
      const ended = new AbortController();
      const others = [wait(['another lane'], long, ended.signal), wait([], long, ended.signal)];
      const served = wait(['another lane', lane]);
      await current().enter(hold('t1'));
      expect(await served).toBe('claim');
      ended.abort();
      expect(await Promise.all(others)).toEqual(['timeout', 'timeout']);
    });

    test('three grants wake three, a fourth goes on waiting', async () => {
      const ended = new AbortController();
      let woken = 0;
      const waiting = [1, 2, 3, 4].map(async () => {
        const wake = await wait([lane], long, ended.signal);
        woken += wake === 'claim' ? 1 : 0;
        if (woken === 3) ended.abort();
        return wake;
      });
      await current().enter(hold('t1'), hold('t2'), hold('t3'));
      expect((await Promise.all(waiting)).sort()).toEqual(['claim', 'claim', 'claim', 'timeout']);
    });

    test('admission goes before lanes, lanes in the order given', async () => {
      await current().enter(hold('t1'), hold('t2', { lane: 'other' }));
      await current().table.wakeAdmission();
      expect([await wait([lane]), await wait([lane]), await wait([lane], 20)]).toEqual([
        'admission',
        'claim',
        'timeout',
      ]);
      expect(await wait([lane, 'other'])).toBe('claim');
    });

    test('a release that grants wakes the lane of what it granted', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['a'], lane: 'other' }),
      );
      await current().claim(ada);
      const waiting = wait(['other']);
      await current().release(ada, 't1');
      expect(await waiting).toBe('claim');
    });

    test('a hold that moves wakes its lane', async () => {
      await current().enter(hold('t1'));
      await current().claim(ada);
      const waiting = wait([lane]);
      await current().table.move(epoch, [{ task: 't1', entry: 1, nextEntry: 2, owner: ada }]);
      expect(await waiting).toBe('claim');
    });

    test('the wake-ups of a lane go with its last ready hold', async () => {
      await current().enter(hold('t1'), hold('t2'));
      await current().claim(ada);
      expect((await current().dump()).wakeUps.lanes).toEqual([]);
      expect(await wait([lane], 20)).toBe('timeout');
    });

    test('wake-ups are bounded: 16 for admission, 64 for a lane', async () => {
      await Promise.all(Array.from({ length: 40 }, () => current().table.wakeAdmission()));
      await current().enter(...Array.from({ length: 100 }, (_, index) => hold(`t${index}`)));
      expect((await current().dump()).wakeUps).toEqual({ admission: 16, lanes: [{ lane, count: 64 }] });
    });

    test('the wait ends with the time given', async () => {
      const begun = performance.now();
      expect(await wait([lane], 60)).toBe('timeout');
      expect(performance.now() - begun).toBeGreaterThanOrEqual(50);
    });

    test('a wait of no time only looks', async () => {
      expect(await wait([lane], 0)).toBe('timeout');
      await current().table.wakeAdmission();
      expect(await wait([lane], 0)).toBe('admission');
    });

    test('the wait ends soon after its signal aborts, also when it had aborted before', async () => {
      const ended = new AbortController();
      const waiting = wait([lane], long, ended.signal);
      ended.abort();
      expect(await waiting).toBe('timeout');
      expect(await wait([lane], long, ended.signal)).toBe('timeout');
    });

    test('who went away takes no wake-up with him', async () => {
      const ended = new AbortController();
      const waiting = wait([lane], long, ended.signal);
      ended.abort();
      await waiting;
      await current().enter(hold('t1'));
      expect(await wait([lane])).toBe('claim');
    });

    test('a wait of another epoch is not refused: it only hears nothing of lanes', async () => {
      await current().enter(hold('t1'));
      expect(await current().table.waitForWake('6', [lane], 20, never)).toBe('timeout');
    });

    test('stop ends the waits, and can be repeated', async () => {
      const waiting = wait([lane]);
      await current().table.stop();
      expect(await waiting).toBe('timeout');
      await current().table.stop();
    });
  });

  describe('settled tasks', () => {
    const current = freshTable(open);

    test('every listener hears of them, until it stops listening', async () => {
      const { table } = current();
      const heard: string[] = [];
      const both = Promise.all(
        ['x', 'y'].map(
          (who) =>
            new Promise<() => void>((resolve) => {
              const end = table.onSettled((tasks) => {
                heard.push(...tasks.map((task) => `${who} ${task}`));
                if (tasks.includes('t2')) resolve(end);
              });
            }),
        ),
      );
      // Listening begins a moment after the call: what is announced before may be missed.
      const announcing = setInterval(() => void table.announceSettled(['t1', 't2']), 10);
      const [end] = await both;
      clearInterval(announcing);
      end!();
      heard.length = 0;
      const last = new Promise<void>((resolve) => {
        table.onSettled((tasks) => {
          if (tasks.includes('last')) resolve();
        });
      });
      const again = setInterval(() => void table.announceSettled(['last']), 10);
      await last;
      clearInterval(again);
      expect(heard.filter((word) => word.startsWith('x'))).toEqual([]);
    });

    test('names come through whole', async () => {
      const { table } = current();
      const tasks = [
        'a\nb',
        '\u{1f600}',
        '{}',
        'x'.repeat(1_024),
        ...Array.from({ length: 500 }, (_, i) => `t${i}`),
      ];
      const heard = new Promise<Set<string>>((resolve) => {
        const all = new Set<string>();
        table.onSettled((some) => {
          for (const task of some) all.add(task);
          if (all.size >= tasks.length) resolve(all);
        });
      });
      const announcing = setInterval(() => void table.announceSettled(tasks), 20);
      expect(await heard).toEqual(new Set(tasks));
      clearInterval(announcing);
    });

    test('what is to be stopped is told with its entry', async () => {
      const { table } = current();
      const holds = [
        { task: 'a:1', entry: 1 },
        { task: 'a\nb', entry: 2_147_483_647 },
      ];
      const heard = new Promise((resolve) => void table.onCanceling(resolve));
      const announcing = setInterval(() => void table.announceCanceling(holds), 20);
      expect(await heard).toEqual(holds);
      clearInterval(announcing);
    });
  });
}
