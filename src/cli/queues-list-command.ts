import { Command } from 'commander';
import type { PageOptions } from './paging.js';
import { onInvocation } from './invocation.js';
import { addPageOptions, noteNextPage } from './paging.js';
import { textTable } from './text-table.js';
import { timeText } from './texts.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function queuesListCommand(): Command {
  const command = new Command('list').description('the queues that are paused');
  return onInvocation<PageOptions>(addPageOptions(command), async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const page = await hf.queues.list(flags);
      if (global.json === true) return await writeJson(page);
      const rows = page.queues.map(({ queue, pausedAt }) => [queue, timeText(pausedAt)]);
      const table = textTable([{ heading: 'QUEUE' }, { heading: 'PAUSED' }], rows);
      await writeResult(rows.length === 0 ? 'No queue is paused.\n' : table);
      await noteNextPage(page.next);
    });
  });
}
