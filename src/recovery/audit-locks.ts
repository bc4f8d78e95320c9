import type { Finding } from './audit-finding.js';
import type { Recovery } from './recovery.js';
import { InvalidTask } from '../errors.js';
import { shown } from '../shown.js';
import { refuseUnknownOptions } from '../tasks/known-options.js';
import { inOpenEpoch } from '../tasks/reading/in-open-epoch.js';
import { audit, auditPauses, type AuditPauses } from './audit.js';

export interface AuditOptions {
  /** Mends what it finds, as far as that can be done without harm to anything that lives. Default false. */
  repair?: boolean;
  /** Looks at every key of the lock table, by SCAN; else at what tasks, owners and lanes lead to. Default false. */
  deep?: boolean;
}

export interface AuditReport {
  /** Whether nothing was found. */
  ok: boolean;
  /** How many findings there are: what is wrong, and is not on its way to be right. */
  unexplained: number;
  findings: Finding[];
}

/** Where there has been no epoch yet, nothing is held that could be wrong. */
export async function auditLocks(
  recovery: Recovery,
  options: AuditOptions = {},
  pauses: AuditPauses = auditPauses,
): Promise<AuditReport> {
  const request = checkAuditOptions(options);
  const findings = await inOpenEpoch(recovery, (epoch) => audit(recovery, { ...request, epoch }, pauses));
  const unexplained = findings?.length ?? 0;
  return { ok: unexplained === 0, unexplained, findings: findings ?? [] };
}

function checkAuditOptions(options: AuditOptions): { repair: boolean; deep: boolean } {
  refuseUnknownOptions(options, ['repair', 'deep'], 'locks.audit');
  const { repair = false, deep = false } = options;
  for (const [name, value] of Object.entries({ repair, deep })) {
    if (typeof value === 'boolean') continue;
    throw new InvalidTask(`${name} must be true or false; got ${shown(value)}.`);
  }
  return { repair, deep };
}
