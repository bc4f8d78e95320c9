import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorCodes } from '../src/errors.js';
import { projectRoot } from './helpers/installed-package.js';

test('the reference of errors lists every code with its status and its meaning', () => {
  const page = readFileSync(join(projectRoot, 'docs/reference/errors.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` *\| (\d+) *\| (.+?) *\|/gm)];
  const listed = rows.map(([, code, status, meaning]) => ({ code, status: Number(status), meaning }));
  expect(listed).toEqual(Object.entries(errorCodes).map(([code, entry]) => ({ code, ...entry })));
});
