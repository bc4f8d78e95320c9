import { describe, expect, it } from 'vitest';
import type { Lock, LockListOptions, LockPage } from '../tasks/reading/list-locks.js';
import { collectLocks } from './collect-locks.js';

/** Resources r000 … r999, of which only those in `held` are admitted; pages as the library cuts them. */
function library(held: number[], calls: LockListOptions[] = []) {
  const names = Array.from({ length: 1_000 }, (_, n) => `r${String(n).padStart(3, '0')}`);
  const lockOf = (resource: string): Lock => ({
    resource,
    mode: null,
    holders: [],
    waiting: [],
    waitingCount: 1,
  });
  const list = (options: LockListOptions = {}): Promise<LockPage> => {
    calls.push(options);
    const { limit = 100, after = null } = options;
    const rest = names.filter((name) => after === null || name > after);
    const page = rest.slice(0, limit);
    return Promise.resolve({
      locks: page.filter((name) => held.includes(Number(name.slice(1)))).map(lockOf),
      next: rest.length > limit ? (page.at(-1) ?? null) : null,
    });
  };
  return { locks: { list, owners: () => Promise.reject(new Error('not asked for')) } };
}

async function namesOf(held: number[], limit: number, after?: string): Promise<[string[], string | null]> {
  const page = await collectLocks(library(held), { limit, ...(after !== undefined && { after }) });
  return [page.locks.map(({ resource }) => resource), page.next];
}

describe('collectLocks', () => {
  it('looks past what is not admitted', async () => {
    expect(await namesOf([500, 700], 3)).toEqual([['r500', 'r700'], null]);
    expect(await namesOf([], 3)).toEqual([[], null]);
  });

  it('cuts a page, and goes on where it ended', async () => {
    const held = [5, 300, 301, 302, 999];
    expect(await namesOf(held, 3)).toEqual([['r005', 'r300', 'r301'], 'r301']);
    expect(await namesOf(held, 3, 'r301')).toEqual([['r302', 'r999'], null]);
  });

  it('asks once where a page is full', async () => {
    const calls: LockListOptions[] = [];
    await collectLocks(library([0, 1, 2, 3], calls), { limit: 3 });
    expect(calls).toEqual([{ limit: 3 }]);
  });
});
