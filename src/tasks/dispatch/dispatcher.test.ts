import { expect, it } from 'vitest';
import { createDispatcher } from './dispatcher.js';

const dispatcher = createDispatcher({
  connect: () => Promise.reject(new Error('Nothing is to be stored here.')),
  wakeAdmission: async () => {},
  runNow: () => Promise.reject(new Error('not asked for')),
  loaded: new Map(),
});
const bare: unknown = Object.create(null);

it.each([null, 5, 'high', ['high']])('dispatch refuses %j as its options', async (options) => {
  const invalid = { code: 'InvalidTask' };
  await expect(dispatcher.dispatch('x', null, options as never)).rejects.toMatchObject(invalid);
  await expect(dispatcher.dispatchMany([{ task: 'x' }], options as never)).rejects.toMatchObject(invalid);
});

it.each([
  { priority: bare },
  { priority: Symbol('high') },
  { runAt: bare },
  { runAt: 1n },
  { queue: bare },
  { exclusive: [bare] },
])('dispatch refuses an option that is no text and becomes none: %#', async (options) => {
  await expect(dispatcher.dispatch('x', null, options as never)).rejects.toMatchObject({
    code: 'InvalidTask',
  });
});

it('dispatch knows its own options beside those of handlers', async () => {
  const misspelt = dispatcher.dispatch('x', null, { imediate: true, deferred: true } as never);
  await expect(misspelt).rejects.toThrow('takes no option "imediate". Did you mean "immediate"?');
  const unknown = dispatcher.dispatch('x', null, { grouping: 'k' } as never);
  await expect(unknown).rejects.toThrow(/It takes exclusive, .*, immediate, deferred, tx\.$/);
});
