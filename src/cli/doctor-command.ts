import { Command } from 'commander';
import type { Finding } from '../recovery/audit-finding.js';
import type { AuditOptions, AuditReport } from '../recovery/audit-locks.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { textTable } from './text-table.js';
import { ownerName, timeText } from './texts.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('looks for what is left behind in the lock table; exits 1 where it finds something')
    .option('--repair', 'mend it, as far as that harms nothing that lives')
    .option('--deep', 'look at every key, by SCAN');
  return onInvocation<AuditOptions>(command, async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const report = await hf.locks.audit(flags);
      if (!report.ok) process.exitCode = exitStatus.badNews;
      if (global.json === true) return await writeJson(report);
      await writeResult(text(report));
    });
  });
}

function text({ unexplained, findings }: AuditReport): string {
  const count = `${unexplained} unexplained\n`;
  if (unexplained === 0) return count;
  const headings = ['FOUND', 'TASK', 'RESOURCE OR LANE', 'OWNER', 'SINCE', 'REPAIRED'];
  const columns = headings.map((heading) => ({ heading }));
  return textTable(columns, findings.map(row)) + count;
}

function row({ kind, task, resource, lane, owner, since, repaired }: Finding): string[] {
  const when = since === null ? '' : timeText(since);
  return [kind, task ?? '', resource ?? lane ?? '', ownerName(owner), when, repaired ? 'yes' : 'no'];
}
