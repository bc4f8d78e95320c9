import { Command } from 'commander';
import type { Pulp } from '../pulp/open-pulp.js';
import type { CleanResult } from './pulp-clean-text.js';
import type { PulpFlags } from './pulp-options.js';
import { InvalidTask } from '../errors.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { collect } from './option-parsers.js';
import { cleanNotes, cleanTable } from './pulp-clean-text.js';
import { addPulpOptions, withPulp } from './pulp-options.js';
import { scanReport } from './pulp-text.js';
import { writeJson, writeNote, writeResult } from './write-output.js';

interface Flags extends PulpFlags {
  owner?: string[];
  reconcile?: boolean;
  predecessor?: boolean;
  lock?: string[];
  yes?: boolean;
}

export function pulpCleanCommand(): Command {
  const command = new Command('clean')
    .description('releases the locks of missing and orphaned owners; without --yes it only tells which')
    .option('--owner <name>', 'this owner alone, also where it is only late; may be given again', collect)
    .option('--reconcile', 'orphans alone: owners without a row in core_appstatus')
    .option('--predecessor', 'with --owner: what an earlier process has left under the name of a live one')
    .option('--lock <key>', 'with --predecessor: release this lock; may be given again', collect)
    .option('--yes', 'do it');
  return onInvocation<Flags>(addPulpOptions(command), async ({ flags, global }) => {
    checkFlags(flags);
    const mode = flags.yes === true ? 'release' : 'look';
    await withPulp({ flags, global, mode, needs: 'both' }, async (pulp) => {
      const result = await clean(pulp, flags);
      if (!result.ok) process.exitCode = exitStatus.badNews;
      if (global.json === true) return await writeJson(result);
      await writeResult(cleanTable(result));
      await writeNote(cleanNotes(result));
    });
  });
}

function checkFlags({ owner = [], reconcile, predecessor, lock, yes, allowScan }: Flags): void {
  if (owner.includes('')) throw new InvalidTask('--owner must not be empty.');
  if (reconcile === true && owner.length > 0) throw new InvalidTask('Give --owner or --reconcile, not both.');
  if (predecessor !== true && lock !== undefined) throw new InvalidTask('--lock goes with --predecessor.');
  if (predecessor !== true) return;
  if (owner.length !== 1) throw new InvalidTask('--predecessor needs one --owner.');
  if (allowScan === true) throw new InvalidTask('--predecessor needs the registry: leave out --allow-scan.');
  if (yes === true && lock === undefined) {
    throw new InvalidTask('Name each lock with --lock: without --yes it tells which there are.');
  }
}

async function clean(pulp: Pulp, flags: Flags): Promise<CleanResult> {
  const { owner: names, predecessor, lock } = flags;
  if (names === undefined) return await cleanAll(pulp, flags);
  return predecessor === true
    ? await cleanPredecessor(pulp, names[0] ?? '', lock)
    : await cleanNamed(pulp, names, flags);
}

async function cleanAll(pulp: Pulp, { reconcile, allowScan = false }: Flags): Promise<CleanResult> {
  const { cleanUpOwners } = await import('../pulp/clean-up-owners.js');
  const { reconcileOrphanLocks } = await import('../pulp/reconcile-orphan-locks.js');
  const { owners, spared, scan, foreign } =
    reconcile === true
      ? await reconcileOrphanLocks(pulp, allowScan)
      : await cleanUpOwners(pulp, ['orphan', 'missing'], allowScan);
  const ok = owners.every(({ done, spared }) => done || spared);
  return { ...head(pulp, ok), owners, spared, scan: scanReport(scan), foreign };
}

async function cleanNamed(pulp: Pulp, names: string[], { allowScan }: Flags): Promise<CleanResult> {
  const { cleanupLocksForWorker } = await import('../pulp/cleanup-locks-for-worker.js');
  const { LegacyScan } = await import('../pulp/legacy-scan.js');
  const wanted = new Set(names);
  const scan = allowScan === true ? new LegacyScan(pulp, (owner) => wanted.has(owner)) : null;
  const owners = [];
  for (const name of wanted) owners.push(await cleanupLocksForWorker(pulp, name, scan));
  return {
    ...head(
      pulp,
      owners.every(({ done }) => done),
    ),
    owners,
    scan: scanReport(scan),
  };
}

async function cleanPredecessor(pulp: Pulp, name: string, locks?: string[]): Promise<CleanResult> {
  const { findPredecessorLocks } = await import('../pulp/predecessor-locks.js');
  const { releasePredecessorLocks } = await import('../pulp/release-predecessor-locks.js');
  const predecessor = { owner: name, locks: await findPredecessorLocks(pulp, name) };
  if (locks === undefined) return { ...head(pulp, true), owners: [], predecessor };
  const cleanup = await releasePredecessorLocks(pulp, name, locks);
  return { ...head(pulp, cleanup.done), owners: [cleanup], predecessor };
}

function head(pulp: Pulp, ok: boolean): Pick<CleanResult, 'ok' | 'dryRun' | 'spared' | 'scan' | 'foreign'> {
  return { ok, dryRun: pulp.mode === 'look', spared: [], scan: scanReport(null), foreign: [] };
}
