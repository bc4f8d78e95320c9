import { Command } from 'commander';
import type { Inspection, OwnerInspection } from '../pulp/inspect-owners.js';
import type { PulpFlags } from './pulp-options.js';
import { onInvocation } from './invocation.js';
import { addPulpOptions, withPulp } from './pulp-options.js';
import { foreignNote, scanNote, scanReport, whyText } from './pulp-text.js';
import { textTable } from './text-table.js';
import { writeJson, writeNote, writeResult } from './write-output.js';

export function pulpInspectCommand(): Command {
  const command = new Command('inspect').description(
    'who may hold locks, whether they are alive, and what they hold; writes nothing',
  );
  return onInvocation<PulpFlags>(addPulpOptions(command), async ({ flags, global }) => {
    await withPulp({ flags, global, mode: 'look', needs: 'redis' }, async (pulp) => {
      const { inspectOwners } = await import('../pulp/inspect-owners.js');
      const inspection = await inspectOwners(pulp, flags.allowScan);
      if (global.json === true) return await writeJson(documentOf(inspection));
      await writeResult(inspection.owners.length === 0 ? 'No owners.\n' : table(inspection.owners));
      await writeNote(notes(inspection));
    });
  });
}

function documentOf({ owners, scan, foreign }: Inspection): unknown {
  const described = owners.map((owner) => ({ ...owner, stale: isStale(owner), why: why(owner) }));
  return { owners: described, scan: scanReport(scan), foreign };
}

/** The owner of each lock once, above its locks. */
function table(owners: OwnerInspection[]): string {
  return textTable(
    [
      { heading: 'OWNER' },
      { heading: 'LIVENESS' },
      { heading: 'WHY' },
      { heading: 'LOCK' },
      { heading: 'NOTE' },
    ],
    owners.flatMap((owner) => {
      const start = [owner.owner, owner.liveness, why(owner)];
      const locks = locksOf(owner);
      return locks.length === 0
        ? [[...start, '', owner.error ?? 'holds nothing']]
        : locks.map((lock, at) => [...(at === 0 ? start : ['', '', '']), ...lock]);
    }),
  );
}

function locksOf({ holds, gone, retaken, unexpected, predecessor }: OwnerInspection): string[][] {
  const left = new Map(predecessor.map((lock) => [lock.key, lock]));
  return [
    ...holds.map((key) => {
      const lock = left.get(key);
      return [key, lock === undefined ? '' : `${lock.why}: task ${lock.task} ${lock.state}`];
    }),
    ...gone.map((key) => [key, 'not there']),
    ...retaken.map((key) => [key, 'held by others']),
    ...unexpected.map(({ key, type }) => [key, `unexpected: ${type}`]),
  ];
}

function why({ liveness, processes }: OwnerInspection): string {
  return liveness === 'unknown' ? 'no database to ask' : whyText(processes);
}

/** Whether `clean` would take it by itself. */
function isStale({ liveness }: OwnerInspection): boolean {
  return liveness === 'missing' || liveness === 'orphan';
}

function notes({ owners, scan, foreign }: Inspection): string {
  const stale = owners.filter(isStale).length;
  const left = owners.filter(({ predecessor }) => predecessor.length > 0).length;
  return [
    stale === 0 ? '' : `${stale} missing or orphaned: \`holdfast pulp clean\` tells what it would release.\n`,
    left === 0
      ? ''
      : `${left} live with locks of a predecessor: \`holdfast pulp clean --owner NAME --predecessor\`.\n`,
    scanNote(scanReport(scan)),
    foreignNote(foreign),
  ].join('');
}
