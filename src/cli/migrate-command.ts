import { Command } from 'commander';
import type { GlobalOptions } from './global-options.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('create or bring up to date the schema of the namespace; safe when many run it at once')
    .option('--check', 'change nothing; exit 1 where something is pending');
  return onInvocation<{ check?: boolean }>(command, async ({ flags, global }) => {
    await withHoldfast(withoutRedis(global), {}, async (hf) => {
      const done = flags.check === true ? [] : (await hf.migrate()).applied;
      const pending = flags.check === true ? await hf.pendingMigrations() : [];
      if (global.json === true) await writeJson({ ok: pending.length === 0, applied: done, pending });
      else await writeResult(report(done, pending));
      if (pending.length > 0) process.exitCode = exitStatus.badNews;
    });
  });
}

/** It touches PostgreSQL only: without a Redis URL it takes the table that needs none. */
function withoutRedis(global: GlobalOptions): GlobalOptions {
  const given = global.embedded === true || (process.env['HOLDFAST_REDIS_URL'] ?? '') !== '';
  return given || global.redisUrl !== undefined ? global : { ...global, redisUrl: 'memory:' };
}

function report(applied: string[], pending: string[]): string {
  if (pending.length > 0) return `Pending: ${pending.join(', ')}\n`;
  if (applied.length > 0) return `Applied: ${applied.join(', ')}\n`;
  return 'The schema is up to date.\n';
}
