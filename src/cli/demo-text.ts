import type { DemoResult } from './demo.js';
import type { DemoSetting } from './demo-setting.js';
import type { DemoWorkers } from './demo-workers.js';
import type { PreparedMirror } from './mirror-demo.js';
import { recoveredText } from './demo-crash-report.js';
import { textFields } from './text-table.js';
import { bytesText } from './texts.js';

const places: Record<DemoSetting['mode'], string> = {
  embedded: 'embedded, with no server of any kind',
  memory: 'on PostgreSQL, with the lock table in this process',
  servers: 'on Redis and PostgreSQL',
};

/** What the demo is about to do. */
export function demoStartText(
  { packages, resumes }: PreparedMirror,
  { mode }: Pick<DemoSetting, 'mode'>,
  { names: { length: workers }, slots }: Pick<DemoWorkers, 'names' | 'slots'>,
): string {
  const who = workers === 1 ? `one worker, ${slots} slots` : `${workers} worker processes, ${slots} slots`;
  const how = resumes ? 'Going on with the mirror of' : 'Mirroring';
  return `${how} ${packages.length} packages ${places[mode]}: ${who}.`;
}

/** The result for people. */
export function demoText(result: DemoResult): string {
  const { tasks, completed, syncs, collections, publications, resumed } = result;
  const perSecond = Math.round(tasks / result.seconds);
  const fields: [string, string][] = [
    [
      'tasks',
      `${completed} of ${tasks} completed${resumed > 0 ? `, ${resumed} left by an earlier run` : ''}`,
    ],
    ['', `${syncs} package.sync, ${collections} store.gc, ${publications} index.publish`],
    ['time', `${result.seconds.toFixed(1)} s, ${perSecond} tasks a second`],
    ['longest queue', `${result.longestQueue} tasks waiting for the store`],
    ['mirrored', `${result.packages} packages, ${result.files} files`],
    ['store', `${result.blobs} blobs, ${bytesText(result.bytes)}`],
    [
      '',
      `${result.blobsWritten} written, ${result.blobsRemoved} removed, ${bytesText(result.bytesHashed)} hashed`,
    ],
    ['verified', result.verified ? 'every manifest matches its files, every blob its hash' : 'NO'],
    ['overlaps', String(result.overlaps)],
    ['locks left', String(result.locksLeft)],
  ];
  const problems = result.problems.slice(0, 20).map((problem) => `  ${problem}\n`);
  const more = result.problems.length - problems.length;
  if (more > 0) problems.push(`  and ${more} more\n`);
  const recovered = result.recovered === undefined ? '' : `\n${recoveredText(result.recovered)}\n`;
  const verdict = result.ok ? 'The demo is ok.\n' : `The demo is NOT ok:\n${problems.join('')}`;
  return `${textFields(fields)}${recovered}${verdict}`;
}

/** What to do after the demo. */
export function demoHints({ mode, dataDir, namespace, temporary }: DemoSetting): string {
  if (mode === 'embedded' && temporary) {
    return '\nKeep the tasks to look at them: holdfast demo --data-dir .holdfast\n';
  }
  const place = dataDir === null ? [] : ['--embedded', '--data-dir', dataDir];
  if (namespace !== undefined) place.push('--namespace', namespace);
  return `\nLook at what ran: ${['holdfast tasks list --limit 10', ...place].join(' ')}\n`;
}
