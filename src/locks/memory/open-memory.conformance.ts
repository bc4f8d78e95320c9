import type { OpenLockTable } from '../lock-table.conformance.js';
import { ownerText } from '../../owner.js';
import { createMemoryLockTable, type MemoryLockTable } from './memory-lock-table.js';

export interface OpenMemoryTable extends OpenLockTable {
  memory: MemoryLockTable;
}

/** An in-memory table under test. */
export async function openMemory(options: { promotionLimit?: number }): Promise<OpenMemoryTable> {
  const table = createMemoryLockTable({ namespace: 'holdfast', ...options });
  await table.start();
  return {
    table,
    memory: table,
    dump: async (epoch) => {
      const dump = table.dumpState(epoch);
      if (dump === null) throw new Error(`Epoch ${epoch} is not the one in the record.`);
      return dump;
    },
    forgeIdentity: async () => {
      table.state.identity = 'another server';
    },
    forgeEntering: async (epoch, task) => {
      table.state.keyspaces.get(epoch)!.holds.get(task)!.status = 'entering';
    },
    forgeLoss: async (epoch, loss) => {
      const space = table.state.keyspaces.get(epoch)!;
      if ('hold' in loss) space.holds.delete(loss.hold);
      else if ('lock' in loss) space.locks.delete(loss.lock);
      else if ('queue' in loss) space.queues.delete(loss.queue);
      else if ('ready' in loss) space.ready.delete(loss.ready);
      else space.registries.delete(ownerText(loss.registry));
    },
    close: () => table.stop(),
  };
}
