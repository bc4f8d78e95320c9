import type { Liveness } from '../pulp/liveness.js';
import type { OwnerCleanup } from '../pulp/owner-cleanup.js';
import type { PredecessorLock } from '../pulp/predecessor-locks.js';
import type { ScanReport } from './pulp-text.js';
import { foreignNote, scanNote } from './pulp-text.js';
import { shellWord } from './shell-word.js';
import { textTable } from './text-table.js';

/** What `pulp clean` prints with --json. In a dry run all of it is what would be. */
export interface CleanResult {
  ok: boolean;
  dryRun: boolean;
  owners: (OwnerCleanup & { refused?: string[] })[];
  spared: { owner: string; liveness: Liveness }[];
  scan: ScanReport;
  foreign: string[];
  predecessor?: { owner: string; locks: PredecessorLock[] };
}

/** One line for all that is, or would be, changed, and for all that is left. */
export function cleanTable(result: CleanResult): string {
  const rows = result.owners.length === 0 ? predecessorRows(result) : result.owners.flatMap(rowsOf(result));
  const headings = [
    { heading: 'OWNER' },
    { heading: 'LIVENESS' },
    { heading: 'LOCK' },
    { heading: 'OUTCOME' },
  ];
  return rows.length === 0 ? 'Nothing to clean.\n' : textTable(headings, rows);
}

function rowsOf({
  dryRun,
  scan,
}: CleanResult): (cleanup: OwnerCleanup & { refused?: string[] }) => string[][] {
  const would = dryRun ? 'would be ' : '';
  return (cleanup) => {
    const rows = [
      ...cleanup.released.map((key) => [key, `${would}released`]),
      ...cleanup.gone.map((key) => [key, `not there: entry ${would}dropped`]),
      ...cleanup.retaken.map((key) => [key, `left to others: entry ${would}dropped`]),
      ...cleanup.unexpected.map(({ key, type }) => [key, `left: unexpected ${type}`]),
      ...(cleanup.refused ?? []).map((key) => [key, "left: not a predecessor's"]),
      ...(cleanup.unlisted ? [['', `${would}unlisted`]] : []),
      ...(cleanup.spared ? [['', 'left alone']] : []),
      ...(cleanup.error === null ? [] : [['', `failed: ${cleanup.error}`]]),
    ];
    const liveness = cleanup.liveness ?? '';
    const all = rows.length === 0 ? [['', nothingText(cleanup, scan)]] : rows;
    return all.map((row, at) => [...(at === 0 ? [cleanup.owner, liveness] : ['', '']), ...row]);
  };
}

/** Of an owner that nothing was found of. */
function nothingText(cleanup: OwnerCleanup, { state }: ScanReport): string {
  if (isUnknown(cleanup)) return 'unknown: no process of this name, and no lock listed for it';
  return state === 'done' ? 'holds nothing' : 'no lock listed for it';
}

function predecessorRows({ predecessor }: CleanResult): string[][] {
  const { owner = '', locks = [] } = predecessor ?? {};
  return locks.map(({ key, why, task, state }, at) => [
    ...(at === 0 ? [owner, 'live'] : ['', '']),
    ...[key, `${why}: task ${task} ${state}`],
  ]);
}

export function cleanNotes({ dryRun, owners, spared, scan, foreign, predecessor }: CleanResult): string {
  const changes = owners.some(({ released, gone, retaken, unlisted }) => {
    return unlisted || released.length + gone.length + retaken.length > 0;
  });
  const again = owners.filter(({ retry, spared }) => retry && !spared).map(({ owner }) => owner);
  const live = owners.filter((cleanup) => cleanup.spared && cleanup.liveness === 'live');
  const withoutLocks = owners.filter(heldNothing).map(({ owner }) => owner);
  const unknown = owners.filter(isUnknown).map(({ owner }) => owner);
  return [
    ...spared.map(({ owner, liveness }) => `${owner} is ${liveness}, and left alone: see --owner.\n`),
    scanNote(scan),
    foreignNote(foreign),
    ...live.map(({ owner }) => liveNote(owner)),
    unknown.length === 0 ? '' : `Unknown, perhaps misspelt: ${unknown.join(', ')}\n`,
    scan.state !== 'not-allowed' || predecessor !== undefined || withoutLocks.length === 0
      ? ''
      : `No lock is listed for ${withoutLocks.join(', ')}. Older workers kept no list: --allow-scan looks for such locks.\n`,
    again.length === 0 ? '' : `Not done, try again later: ${again.join(', ')}\n`,
    dryRun && owners.length === 0 ? predecessorNote(predecessor) : '',
    dryRun && changes ? 'Nothing was changed: with --yes it will be.\n' : '',
  ].join('');
}

function heldNothing({ spared, error, released, gone, retaken, unexpected }: OwnerCleanup): boolean {
  return (
    !spared && error === null && released.length + gone.length + retaken.length + unexpected.length === 0
  );
}

/** Nothing is known of such a name: there is no process, no lock, and no entry in the list of owners. */
function isUnknown(cleanup: OwnerCleanup): boolean {
  const { liveness, done, unlisted } = cleanup;
  return liveness === 'orphan' && done && !unlisted && heldNothing(cleanup);
}

/** To try again would change nothing as long as it lives. */
function liveNote(owner: string): string {
  const name = shellWord(owner);
  return (
    `${owner} is live, and keeps its locks. What an earlier process left under its name: ` +
    `holdfast pulp clean --owner ${name} --predecessor\n`
  );
}

/** The line to type, since each lock must be named. */
function predecessorNote(predecessor: CleanResult['predecessor']): string {
  if (predecessor === undefined || predecessor.locks.length === 0) return '';
  const locks = predecessor.locks.map(({ key }) => `--lock ${shellWord(key)}`);
  const owner = shellWord(predecessor.owner);
  return [
    'Make sure that the earlier process is gone; what is to be released must be named:\n',
    `  holdfast pulp clean --owner ${owner} --predecessor ${locks.join(' ')} --yes\n`,
  ].join('');
}
