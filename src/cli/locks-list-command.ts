import { Command } from 'commander';
import type { Lock } from '../tasks/reading/list-locks.js';
import type { PageOptions } from './paging.js';
import { collectLocks } from './collect-locks.js';
import { onInvocation } from './invocation.js';
import { addPageOptions, noteNextPage } from './paging.js';
import { textTable } from './text-table.js';
import { ownerName, timeText } from './texts.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

interface Options extends PageOptions {
  resource?: string;
}

export function locksListCommand(): Command {
  const command = new Command('list')
    .description('the resources that are held or waited for')
    .option('--resource <name>', 'only this one');
  return onInvocation<Options>(addPageOptions(command), async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const page = await collectLocks(hf, flags);
      if (global.json === true) return await writeJson(page);
      await writeResult(page.locks.length === 0 ? 'No locks.\n' : table(page.locks));
      await noteNextPage(page.next);
    });
  });
}

/** One line a holder; what nobody holds but some wait for has a line of its own. */
function table(locks: Lock[]): string {
  return textTable(
    [
      { heading: 'RESOURCE' },
      { heading: 'MODE' },
      { heading: 'WAITING', align: 'right' },
      { heading: 'HELD BY TASK' },
      { heading: 'ON WORKER' },
      { heading: 'SINCE' },
    ],
    locks.flatMap(rows),
  );
}

function rows(lock: Lock): string[][] {
  const start = [lock.resource, lock.mode ?? '', String(lock.waitingCount)];
  if (lock.holders.length === 0) return [start];
  return lock.holders.map((holder, at) => [
    ...(at === 0 ? start : ['', '', '']),
    holder.task,
    holder.owner === null ? '(reserved)' : ownerName(holder.owner),
    timeText(holder.since),
  ]);
}
