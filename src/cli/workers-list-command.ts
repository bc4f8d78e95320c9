import { Command } from 'commander';
import type { WorkerView } from '../tasks/reading/list-workers.js';
import type { PageOptions } from './paging.js';
import { onInvocation } from './invocation.js';
import { addPageOptions, noteNextPage } from './paging.js';
import { textTable } from './text-table.js';
import { timeText } from './texts.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function workersListCommand(): Command {
  const command = new Command('list').description('the workers that are registered');
  return onInvocation<PageOptions>(addPageOptions(command), async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const page = await hf.workers.list(flags);
      if (global.json === true) return await writeJson(page);
      await writeResult(page.workers.length === 0 ? 'No workers.\n' : table(page.workers));
      await noteNextPage(page.next);
    });
  });
}

function table(workers: WorkerView[]): string {
  return textTable(
    [
      { heading: 'NAME' },
      { heading: 'INCARNATION' },
      { heading: 'KIND' },
      { heading: 'HOST' },
      { heading: 'PID', align: 'right' },
      { heading: 'ONLINE' },
      { heading: 'RUNNING', align: 'right' },
      { heading: 'QUEUES' },
      { heading: 'STARTED' },
      { heading: 'LAST HEARTBEAT' },
    ],
    workers.map((worker) => [
      worker.name,
      worker.incarnation,
      worker.kind,
      worker.host,
      String(worker.pid),
      worker.online ? 'yes' : 'no',
      `${worker.running.length}/${worker.concurrency}`,
      worker.queues.join(','),
      timeText(worker.startedAt),
      timeText(worker.lastHeartbeat),
    ]),
  );
}
