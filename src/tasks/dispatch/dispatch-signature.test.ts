import { expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { TaskDefinition } from '../definition.js';
import type { Dispatch, DispatchedTask, DispatchMany, DispatchOptions } from './dispatch-signature.js';
import { defineTask } from '../definition.js';

const sync = defineTask({
  name: 'sync',
  payload: z.object({ repo: z.string().transform(Number) }),
  run: (payload) => payload.repo,
});
const bare = defineTask({ name: 'bare', run: () => null });

/** Checked by the compiler alone: nothing in it runs. */
function types(dispatch: Dispatch<DispatchOptions>, dispatchMany: DispatchMany): void {
  expectTypeOf(dispatch(sync, { repo: '7' }, { priority: 1 })).resolves.toEqualTypeOf<DispatchedTask>();
  void dispatch(bare, { anything: true });
  void dispatch('by name', { anything: true });
  void dispatch('by name');
  // @ts-expect-error a payload of the wrong type
  void dispatch(sync, { repo: 7 });
  // @ts-expect-error a payload is needed
  void dispatch(sync);
  // @ts-expect-error an option that does not exist
  void dispatch(sync, { repo: '7' }, { prio: 1 });

  void dispatchMany([
    { task: sync, payload: { repo: '7' }, exclusive: ['x'] },
    { task: bare, payload: 1 },
    { task: 'by name', payload: { anything: true } },
    { task: 'by name' },
  ]);
  void dispatchMany(['a', 'b'].map((repo) => ({ task: sync, payload: { repo } })));
  const wrong = { task: sync, payload: { repo: 7 } };
  // @ts-expect-error a payload of the wrong type
  void dispatchMany([{ task: bare, payload: 1 }, wrong]);
}

it('gives dispatch the input type of the schema', () => {
  expectTypeOf(types).toBeFunction();
  expectTypeOf(sync).toEqualTypeOf<TaskDefinition<{ repo: string }, { repo: number }, number>>();
});

it('lets definitions of all types share a list', () => {
  const list: TaskDefinition[] = [sync, bare];
  expectTypeOf(list).toEqualTypeOf<TaskDefinition[]>();
});
