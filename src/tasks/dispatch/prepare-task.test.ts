import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TaskDefinition } from '../definition.js';
import { InvalidTask } from '../../errors.js';
import { defineTask } from '../definition.js';
import { prepareTask } from './prepare-task.js';

const run = (): null => null;
const from = { loaded: new Map<string, TaskDefinition>(), parent: null };
const sync = defineTask({
  name: 'repo.sync',
  payload: z.object({ repo: z.string().transform(Number), ref: z.string().default('main') }),
  resources: ({ repo, ref }) => ({ exclusive: [`repo:${repo}:${ref}`], shared: ['store'] }),
  needs: { git: '>=2' },
  queue: 'syncs',
  priority: 7,
  maxAttempts: 4,
  run,
});

describe('prepareTask', () => {
  it('stores the payload as given and computes the resources from the parsed one', async () => {
    const { task, bytes } = await prepareTask(sync, { repo: '007' }, {}, from);
    expect(task).toMatchObject({
      name: 'repo.sync',
      payload: { repo: '007' },
      exclusive: ['repo:7:main'],
      shared: ['store'],
      queue: 'syncs',
      priority: 7,
      needs: { git: '>=2' },
      runAt: null,
      parent: null,
      policies: { maxAttempts: 4 },
    });
    expect(bytes).toBe('{"repo":"007"}'.length);
  });

  it('adds the resources named at dispatch; exclusive wins over shared', async () => {
    const options = { exclusive: ['store', 'b'], shared: ['b', 'c'] };
    const { task } = await prepareTask(sync, { repo: '7' }, options, from);
    expect(task.exclusive).toEqual(['b', 'repo:7:main', 'store']);
    expect(task.shared).toEqual(['c']);
  });

  it('takes a name without a definition, with explicit resources and a null payload', async () => {
    const { task } = await prepareTask('elsewhere', undefined, { shared: ['x', 'x'] }, from);
    expect(task).toMatchObject({
      name: 'elsewhere',
      payload: null,
      exclusive: [],
      shared: ['x'],
      policies: null,
    });
    expect(task).toMatchObject({ queue: 'default', priority: 0, needs: {} });
  });

  it('finds the definition of a name that is loaded', async () => {
    const loaded = new Map([[sync.name, sync]]) as ReadonlyMap<string, TaskDefinition>;
    const { task } = await prepareTask('repo.sync', { repo: '1' }, {}, { loaded, parent: 'p' });
    expect(task).toMatchObject({ exclusive: ['repo:1:main'], queue: 'syncs', parent: 'p' });
    await expect(prepareTask('repo.sync', {}, {}, { loaded, parent: null })).rejects.toThrow('repo:');
  });

  it('makes ids that grow in the order of dispatch', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 200; n += 1) ids.push((await prepareTask('x', n, {}, from)).task.id);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(200);
  });

  it('keeps what was given when the caller changes it afterwards', async () => {
    const payload = { list: [1] };
    const { task } = await prepareTask('x', payload, {}, from);
    payload.list.push(2);
    expect(task.payload).toEqual({ list: [1] });
  });

  it('turns moments into ISO 8601 in UTC', async () => {
    const runAt = async (at: Date | string): Promise<string | null> =>
      (await prepareTask('x', null, { runAt: at }, from)).task.runAt;
    expect(await runAt(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
    expect(await runAt('2030-01-31T08:00:00+02:00')).toBe('2030-01-31T06:00:00.000Z');
  });

  it.each<[string, object, string]>([
    ['x', { grouping: 'k' }, 'takes no option "grouping"'],
    ['x', { exclusves: ['k'] }, 'Did you mean "exclusive"?'],
    ['x', { runAt: 'tomorrow' }, 'runAt must be a Date or ISO 8601'],
    ['x', { runAt: '2030-01-31T08:00:00' }, 'runAt must be a Date or ISO 8601'],
    ['x', { runAt: new Date(Number.NaN) }, 'runAt must be a moment'],
    ['x', { runAt: '2030-99-31T08:00:00Z' }, 'runAt must be a moment'],
    ['x', { uniqueKey: '' }, 'uniqueKey must not be empty'],
    ['x', { uniqueKey: 'x'.repeat(1_025) }, 'uniqueKey is 1025 bytes long'],
    ['x', { uniqueKey: 'a\0' }, 'uniqueKey must not contain NUL'],
    ['x', { uniqueKey: 7 }, 'uniqueKey must be a string'],
    ['x', { uniqueKey: 'x', uniqueMode: 'drop' }, 'uniqueMode must be "keep" or "replace"; got "drop"'],
    ['x', { uniqueMode: 'replace' }, 'uniqueMode says what happens with a uniqueKey'],
    ['x', { priority: 0.5 }, 'priority must be an integer'],
    ['x', { queue: '\uD800' }, 'lone surrogate'],
    ['x', { exclusive: [''] }, 'must not be empty'],
    ['x', { exclusive: [null] }, 'must be a string'],
    ['x', { exclusive: 'repo' }, 'must be a list'],
    ['x', { shared: ['é'.repeat(513)] }, '1026 bytes long; the limit is 1024'],
    ['x', { exclusive: Array.from({ length: 1_001 }, (_, n) => `r${n}`) }, 'at most 1000 resources'],
    ['', {}, 'must not be empty'],
    ['a\0b', {}, 'must not contain NUL'],
  ])('refuses name %o with %o', async (name, options, message) => {
    const preparing = prepareTask(name, null, options, from);
    await expect(preparing).rejects.toThrow(InvalidTask);
    await expect(preparing).rejects.toThrow(message);
  });

  it.each(['{}', '*', 'a\nb', '{other}:1:lock:x', 'x'.repeat(1_024)])(
    'stores the odd name %o as it is',
    async (odd) => {
      const { task } = await prepareTask(odd, null, { exclusive: [odd] }, from);
      expect(task).toMatchObject({ name: odd, exclusive: [odd] });
    },
  );

  it.each<[() => unknown, string]>([
    [() => 'repo', 'must return { exclusive, shared }'],
    [() => Promise.resolve({}), 'not a promise'],
    [() => ({ exclusives: [] }), 'returned "exclusives"'],
    [() => ({ exclusive: [7] }), 'must be a string'],
    [
      () => {
        throw new Error('no such repo');
      },
      'resources threw: Error: no such repo',
    ],
  ])('refuses a definition whose resources answer is malformed: %s', async (resources, message) => {
    const definition = defineTask({ name: 'x', run, resources: resources as () => object });
    await expect(prepareTask(definition, null, {}, from)).rejects.toThrow(message);
  });
});
