import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { InvalidTask } from '../errors.js';
import type { TaskDefinition } from './definition.js';
import { defineTask, isTaskDefinition } from './definition.js';

const run = (): null => null;

describe('defineTask', () => {
  it('fills in every default', () => {
    expect(defineTask({ name: 'bare', run })).toMatchObject({
      name: 'bare',
      queue: 'default',
      priority: 0,
      needs: {},
      isolation: null,
      payload: null,
      policies: {
        maxAttempts: 1,
        maxCrashes: 3,
        backoff: { initialMs: 1_000, maxMs: 300_000 },
        onWorkerLost: null,
        timeoutMs: null,
        rollbackTimeoutMs: null,
      },
    });
  });

  it('keeps what was given, with durations in milliseconds', () => {
    const definition = defineTask({
      name: 'full',
      run,
      maxAttempts: 3,
      maxCrashes: 1,
      backoff: { initial: '10m' },
      timeout: '1.5s',
      rollback: () => {},
      rollbackTimeout: '2m',
      onWorkerLost: 'retry',
      isolation: 'child',
      needs: { ffmpeg: '>=6' },
      queue: 'media',
      priority: -5,
    });
    expect(definition).toMatchObject({
      queue: 'media',
      priority: -5,
      isolation: 'child',
      needs: { ffmpeg: '>=6' },
    });
    expect(definition.policies).toEqual({
      maxAttempts: 3,
      maxCrashes: 1,
      backoff: { initialMs: 600_000, maxMs: 600_000 },
      onWorkerLost: 'retry',
      timeoutMs: 1_500,
      rollbackTimeoutMs: 120_000,
    });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ name: '' }, 'The name of a task must not be empty'],
    [{ name: 'a\0' }, 'must not contain NUL'],
    [{ run: undefined }, 'run must be a function'],
    [{ rolback: run }, 'Did you mean "rollback"?'],
    [{ rollback: 'no' }, 'rollback must be a function'],
    [{ rollback: run, rollbackTimeout: 'soon' }, 'rollbackTimeout'],
    [{ rollback: run, rollbackTimeout: 0 }, 'rollbackTimeout must be 1 ms … 24 days'],
    [{ rollbackTimeout: '1m' }, 'there is none'],
    [{ maxAttempt: 2 }, 'Did you mean "maxAttempts"?'],
    [{ maxAttempts: 0 }, 'maxAttempts must be an integer'],
    [{ maxAttempts: 1.5 }, 'maxAttempts must be an integer'],
    [{ maxCrashes: Infinity }, 'maxCrashes must be an integer'],
    [{ timeout: 0 }, 'timeout must be 1 ms … 24 days'],
    [{ timeout: '700h' }, 'timeout must be 1 ms … 24 days'],
    [{ timeout: 'soon' }, 'must be a duration'],
    [{ backoff: { initial: '2s', max: '1s' } }, 'backoff.max must not be less'],
    [{ backoff: { maximum: '1s' } }, 'backoff takes no option "maximum"'],
    [{ onWorkerLost: 'ignore' }, 'onWorkerLost must be "retry" or "fail"'],
    [{ isolation: 'thread' }, 'isolation must be "inline" or "child"'],
    [{ needs: { ffmpeg: 'new' } }, 'needs.ffmpeg must be a version range'],
    [{ priority: 32_768 }, 'priority must be an integer, -32768 … 32767'],
    [{ priority: -32_769 }, 'priority must be an integer'],
    [{ queue: '' }, 'queue must not be empty'],
    [{ payload: {} }, 'payload must be a Standard Schema'],
    [{ resources: {} }, 'resources must be a function'],
  ])('refuses %o', (options, message) => {
    const define = (): unknown => defineTask({ name: 'x', run, ...options });
    expect(define).toThrow(InvalidTask);
    expect(define).toThrow(message);
  });

  it('takes priorities up to both ends', () => {
    expect(defineTask({ name: 'x', run, priority: 32_767 }).priority).toBe(32_767);
    expect(defineTask({ name: 'x', run, priority: -32_768 }).priority).toBe(-32_768);
  });

  it('marks definitions so that another copy of the package knows them', () => {
    expect(isTaskDefinition(defineTask({ name: 'x', run }))).toBe(true);
    expect(isTaskDefinition({ name: 'x', run })).toBe(false);
    expect(isTaskDefinition(null)).toBe(false);
  });

  it('passes the types of the schema on: input to dispatch, output to resources and run', () => {
    const schema = z.object({ repo: z.string().transform(Number), ref: z.string().default('main') });
    const definition = defineTask({
      name: 'typed',
      payload: schema,
      resources: (payload) => {
        expectTypeOf(payload).toEqualTypeOf<{ repo: number; ref: string }>();
        return { exclusive: [`repo:${payload.repo}`] };
      },
      run: (payload, context) => {
        expectTypeOf(payload).toEqualTypeOf<{ repo: number; ref: string }>();
        void (() => context.dispatch(definition, { repo: '7' }));
        // @ts-expect-error the input of the schema is a string
        void (() => context.dispatch(definition, { repo: 7 }));
      },
    });
    expect(definition.resources({ repo: 7, ref: 'main' })).toEqual({ exclusive: ['repo:7'] });
  });

  it('takes the declared type of the payload where there is no schema', () => {
    const definition = defineTask({
      name: 'declared',
      resources: (payload: { repo: number }) => ({ exclusive: [`repo:${payload.repo}`] }),
      run: async (payload: { repo: number }) => payload.repo,
    });
    expectTypeOf(definition).toEqualTypeOf<TaskDefinition<{ repo: number }, { repo: number }, number>>();
  });

  it('leaves the payload unknown without a schema and a declaration', () => {
    defineTask({
      name: 'untyped',
      run: (payload) => {
        expectTypeOf(payload).toBeUnknown();
      },
    });
  });
});
