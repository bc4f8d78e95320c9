import { describe, expect, it } from 'vitest';
import { InvalidTask } from '../errors.js';
import { defineTask } from '../tasks/definition.js';
import { checkDefinitions } from './check-definitions.js';

const run = (): null => null;
const sync = defineTask({ name: 'sync', run });

describe('checkDefinitions', () => {
  it('gives the definitions by name, one named twice once', () => {
    expect([...checkDefinitions([sync, sync]).entries()]).toEqual([['sync', sync]]);
  });

  it.each([
    [[sync, defineTask({ name: 'sync', run })], 'have the name "sync"'],
    [[{ name: 'sync', run }], 'did not make'],
    [sync, 'must be a list'],
  ])('refuses %o', (tasks, message) => {
    expect(() => checkDefinitions(tasks as never)).toThrow(InvalidTask);
    expect(() => checkDefinitions(tasks as never)).toThrow(message);
  });
});
