import { Command } from 'commander';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('create or bring up to date the schema of the namespace; safe when many run it at once')
    .option('--check', 'change nothing; exit 1 where something is pending');
  return onInvocation<{ check?: boolean }>(command, async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const done = flags.check === true ? [] : (await hf.migrate()).applied;
      const pending = flags.check === true ? await hf.pendingMigrations() : [];
      if (global.json === true) await writeJson({ ok: pending.length === 0, applied: done, pending });
      else await writeResult(report(done, pending));
      if (pending.length > 0) process.exitCode = exitStatus.badNews;
    });
  });
}

function report(applied: string[], pending: string[]): string {
  if (pending.length > 0) return `Pending: ${pending.join(', ')}\n`;
  if (applied.length > 0) return `Applied: ${applied.join(', ')}\n`;
  return 'The schema is up to date.\n';
}
