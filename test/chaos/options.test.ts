import { expect, test } from 'vitest';
import { readOptions } from './options.js';

test.each([
  [['--workers', '0'], /--workers takes a whole number, 1 or more/],
  [['--workers', '1.5'], /--workers takes a whole number/],
  [['--minutes', '0'], /--minutes takes a number, more than 0/],
  [['--minutes', ''], /--minutes takes a number/],
  [['--rate', '0'], /--rate takes a number, more than 0/],
  [['--rate', 'many'], /--rate takes a number.*got "many"/],
  [['--long', '101'], /--long takes a number, 0 or more, 100 at most/],
  [['--seed', '-1'], /--seed/],
  [['--redis', 'cluster'], /--redis is "standalone" or "sentinel"; got "cluster"/],
  [['--postgres', 'cluster'], /--postgres is "standalone" or "standby"; got "cluster"/],
  [['--faults', 'kill worker,nonsense'], /no fault "nonsense".*There are: kill worker, /],
  [['--faults', ''], /no fault ""/],
  [['--faults', 'fail over redis'], /no fault "fail over redis" with --redis standalone/],
  [['--faults', 'fail over postgres'], /no fault "fail over postgres" with .*--postgres standalone/],
  [['--build', 'docs'], /There is no build/],
  [['--nonsense'], /--nonsense/],
  [['4'], /4/],
])('%j is refused', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

test('what can be run is taken, and names of faults may have spaces', () => {
  const args = [
    '--minutes',
    '0.5',
    '--seed',
    '7',
    '--faults',
    'kill worker, fail over redis',
    '--out',
    'a.txt',
  ];
  const { runs, out } = readOptions([...args, '--redis', 'sentinel']);
  expect(runs).toEqual([
    expect.objectContaining({ seed: 7, minutes: 0.5, only: ['kill worker', 'fail over redis'] }),
  ]);
  expect(out).toBe('a.txt');
});
