import type { Embedded } from '../embedded/open-embedded.js';
import type { Logger } from '../log.js';
import type { Backend, BackendTable } from './backend.js';
import { createCurrentEpoch } from '../recovery/current-epoch.js';
import { findOrOpenEpoch } from '../recovery/open-epoch.js';

/** Embedded data, open from the start. Time fences nobody here: who could take over is locked out of the folder. */
export function createEmbeddedBackend({ database, store, table, close }: Embedded, log: Logger): Backend {
  const open: BackendTable = {
    table,
    epoch: createCurrentEpoch(() => findOrOpenEpoch({ store, table, log })),
  };
  return {
    ...{ database, store },
    storeReady: async () => {},
    openTable: async () => open,
    canWake: true,
    wakeAdmission: () => table.wakeAdmission(),
    announcingTable: async () => table,
    beater: { kind: 'caller', beat: (incarnation) => store.beat(incarnation) },
    close,
  };
}
