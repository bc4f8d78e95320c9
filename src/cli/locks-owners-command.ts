import { Command } from 'commander';
import type { LockOwner } from '../tasks/reading/list-owners.js';
import type { PageOptions } from './paging.js';
import { onInvocation } from './invocation.js';
import { addPageOptions, noteNextPage } from './paging.js';
import { textTable } from './text-table.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function locksOwnersCommand(): Command {
  const command = new Command('owners').description('who may hold locks, and how much each holds');
  return onInvocation<PageOptions>(addPageOptions(command), async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const page = await hf.locks.owners(flags);
      if (global.json === true) return await writeJson(page);
      await writeResult(page.owners.length === 0 ? 'No owners.\n' : table(page.owners));
      await noteNextPage(page.next);
    });
  });
}

function table(owners: LockOwner[]): string {
  return textTable(
    [
      { heading: 'NAME' },
      { heading: 'INCARNATION' },
      { heading: 'ONLINE' },
      { heading: 'HOLDS', align: 'right' },
    ],
    owners.map(({ name, incarnation, online, holds, more }) => [
      name,
      incarnation,
      online === null ? 'no such worker' : online ? 'yes' : 'no',
      `${holds.length}${more ? '+' : ''}`,
    ]),
  );
}
