import type { AuditedTask, AuditedTasks } from '../audited-tasks.js';
import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';
import { checkCursor, isTaskId } from '../task-id.js';

const unsettled = sqlFile(import.meta.url, './unsettled-tasks.sql');
const audited = sqlFile(import.meta.url, './audited-tasks.sql');
const readmit = sqlFile(import.meta.url, './readmit-tasks.sql');
const voidTask = sqlFile(import.meta.url, './void-task.sql');

interface StoredTask extends Omit<AuditedTask, 'admittedEpoch' | 'takeOut'> {
  admitted_epoch: string;
  take_out: number | null;
}

/** Hold ids that no row can have are asked for too: there is no row. */
export function auditTasks(run: Run): AuditedTasks {
  return {
    unsettledTasks: async ({ after, limit }) => {
      checkCursor(after);
      return (await run<StoredTask>(unsettled, [after, limit])).map(auditedTask);
    },
    auditedTasks: async (ids) => (await run<StoredTask>(audited, [ids.filter(isTaskId)])).map(auditedTask),
    readmitTasks: async (epoch, tasks) => {
      const values = [epoch, tasks.map(({ task }) => task), tasks.map(({ entry }) => entry)];
      return (await run(readmit, values)).length;
    },
    voidTask: async ({ id, name, queue }) => {
      const [row] = await run<{ final: boolean }>(voidTask, [id, name, queue]);
      return row?.final ?? false;
    },
  };
}

function auditedTask({ admitted_epoch: admittedEpoch, take_out: takeOut, ...rest }: StoredTask): AuditedTask {
  return { ...rest, admittedEpoch, takeOut };
}
