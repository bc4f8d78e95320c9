import type { Keyspace } from '../../src/locks/memory/table-state.js';
import type { Choice } from './steps.js';
import type { World } from './world.js';
import { ScriptFailed } from '../../src/errors.js';
import { may, spend } from './fault-counts.js';

/** The table loses everything, or one hold; the server that comes after it is another one by its identity. */
export function lossChoices(world: World): Choice[] {
  const { state } = world.table;
  const choices: Choice[] = [];
  const losing = (label: string, fault: string, lose: () => void): void => {
    choices.push({
      label: () => label,
      optional: true,
      happen: async () => {
        spend(world, fault);
        lose();
        state.identity = `${state.identity}+`;
        world.noteContent('table');
      },
    });
  };
  if (may(world, 'lost table')) {
    losing('the table loses everything', 'lost table', () => {
      state.epoch = null;
      state.keyspaces.clear();
    });
  }
  const space = state.keyspaces.get(state.epoch?.number ?? '');
  if (may(world, 'lost hold') && space !== undefined) {
    for (const task of space.holds.keys()) {
      losing(`the table forgets the hold of ${task}`, 'lost hold', () => forget(space, task));
    }
  }
  return choices;
}

function forget(space: Keyspace, task: string): void {
  space.holds.delete(task);
  space.waits.delete(task);
  for (const [resource, lock] of space.locks) {
    if (lock instanceof Set) lock.delete(task);
    if (lock === task || (lock instanceof Set && lock.size === 0)) space.locks.delete(resource);
  }
}

class Died extends Error {}

/** A call of the table dies before any one of its writes, as a script can, and says so. */
export function cutChoices(world: World): Choice[] {
  if (!may(world, 'cut')) return [];
  const calls = world.processes.flatMap(({ calls }) => calls).filter(({ to }) => to === 'table');
  return calls
    .filter(({ answer }) => answer === null)
    .flatMap((call) =>
      Array.from({ length: 14 }, (_, write) => ({
        label: () => `${call.process.name}: ${call.op} dies before its write ${write + 1}`,
        optional: true,
        happen: async () => {
          spend(world, 'cut');
          let left = write;
          world.table.state.beforeWrite = () => {
            if (left-- <= 0) throw new Died();
          };
          await world.execute(call);
          world.table.state.beforeWrite = null;
          const died = call.answer !== null && 'error' in call.answer && call.answer.error instanceof Died;
          if (died) call.answer = { error: new ScriptFailed('died half-way') };
          if (call.process.runs) await world.deliver(call);
        },
      })),
    );
}
