import type { LockTable } from '../locks/lock-table.js';
import type { Backend } from './backend.js';

/**
 * Listens to what settles as soon as the lock table is open, if it ever is: announcements are hints, and who
 * waits polls besides.
 */
export function announcementsOf(backend: Pick<Backend, 'announcingTable'>): Pick<LockTable, 'onSettled'> {
  return {
    onSettled: (listener) => {
      let ended = false;
      let end = (): void => {};
      const listen = async (): Promise<void> => {
        const table = await backend.announcingTable();
        if (table !== null && !ended) end = table.onSettled(listener);
      };
      listen().catch(() => {});
      return () => {
        ended = true;
        end();
      };
    },
  };
}
