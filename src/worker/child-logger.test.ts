import { expect, test } from 'vitest';
import type { ChildLogLine } from './child-pool.js';
import { childLogger } from './child-logger.js';

function refuse(): never {
  throw Object.create(null);
}

test('logging in a child never throws, whatever is logged', () => {
  const lines: ChildLogLine[] = [];
  const log = childLogger((line) => void lines.push(line));
  log.info({ toJSON: refuse }, 'fields that refuse');
  log.info({}, { [Symbol.for('nodejs.util.inspect.custom')]: refuse } as never);
  expect(lines).toEqual([
    { level: 'info', fields: { unlogged: '[Object: null prototype] {}' }, message: 'fields that refuse' },
    { level: 'info', fields: {}, message: 'something that cannot be shown' },
  ]);
});
