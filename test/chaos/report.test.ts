import { expect, test } from 'vitest';
import { hostname } from 'node:os';
import { withoutPlaces } from './report.js';

test('a report tells neither where things are nor the name of the machine', () => {
  expect(withoutPlaces('Command failed: /usr/bin/node /tmp/chaos/dist/cli/main.js tasks')).toBe(
    'Command failed: …/node …/main.js tasks',
  );
  expect(withoutPlaces(`Session of ${hostname()} is left.`)).toBe('Session of HOST is left.');
  const others = 'Key {chaos}:1/2 is left, at 12/30, of redis://127.0.0.1:6379/0.';
  expect(withoutPlaces(others)).toBe(others);
});
