import { expect, test } from 'vitest';
import { createCurrentEpoch } from './current-epoch.js';

function numbered(): { find: () => Promise<string>; calls: () => number } {
  let calls = 0;
  return { find: async () => String((calls += 1)), calls: () => calls };
}

test('the epoch is looked for once, however many ask', async () => {
  const { find, calls } = numbered();
  const epoch = createCurrentEpoch(find);
  expect(await Promise.all([epoch.get(), epoch.get(), epoch.get()])).toEqual(['1', '1', '1']);
  expect(await epoch.get()).toBe('1');
  expect(calls()).toBe(1);
});

test('all who were refused in one epoch share one look for the next', async () => {
  const { find, calls } = numbered();
  const epoch = createCurrentEpoch(find);
  const refused = await epoch.get();
  epoch.refused(refused);
  epoch.refused(refused);
  const next = epoch.get();
  epoch.refused(refused);
  expect(await Promise.all([next, epoch.get()])).toEqual(['2', '2']);
  expect(calls()).toBe(2);
});

test('a late refusal of an earlier epoch changes nothing', async () => {
  const { find, calls } = numbered();
  const epoch = createCurrentEpoch(find);
  epoch.refused(await epoch.get());
  await epoch.get();
  epoch.refused('1');
  expect(await epoch.get()).toBe('2');
  expect(calls()).toBe(2);
});

test('a look that failed is followed by another', async () => {
  let fails = true;
  const epoch = createCurrentEpoch(async () => {
    if (fails) throw new Error('out of reach');
    return '1';
  });
  await expect(epoch.get()).rejects.toThrow('out of reach');
  fails = false;
  expect(await epoch.get()).toBe('1');
});

test('who works in an epoch is told once that it is refused, or at once where it was', async () => {
  const epoch = createCurrentEpoch(numbered().find);
  const told: string[] = [];
  const first = await epoch.get();
  epoch.onRefused(first, () => told.push('first'));
  epoch.onRefused(first, () => told.push('never'))();
  epoch.onRefused('0', () => told.push('of an older one'));
  expect(told).toEqual(['of an older one']);
  epoch.refused(first);
  epoch.refused(first);
  expect(told).toEqual(['of an older one', 'first']);
  epoch.refused(await epoch.get());
  expect(told).toEqual(['of an older one', 'first']);
});
