import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Workload } from './workload.js';

/** A build of which one guard is removed, by replacing a text that occurs in it. */
export interface BrokenBuild {
  name: string;
  /** The ending of the names of the files that may have it, within `dist`. */
  within: string;
  find: string;
  replace: string;
  /** The properties of which one must be violated: others may be for what the machine does. */
  breaks: string[];
  /** What differs from the usual work. */
  work?: Partial<Workload>;
  /** Faults to be among; all where it is not given. */
  faults?: string[];
  /** 4 where it is not given. */
  workers?: number;
}

export const brokenBuilds: BrokenBuild[] = [
  {
    name: 'an exclusive lock is granted whoever holds it',
    within: 'scripts/lib/hold.lua',
    find: "redis.call('EXISTS', LOCK .. resource, QUEUE .. resource) == 0",
    replace: "redis.call('EXISTS', QUEUE .. resource) == 0",
    breaks: ['never two'],
  },
  {
    name: 'readers pass a writer that waits',
    within: 'scripts/lib/hold.lua',
    find: "return redis.call('EXISTS', QUEUE .. resource) == 0 and redis",
    replace: 'return redis',
    breaks: ['order'],
  },
  {
    name: 'admission in the order of names',
    within: 'tasks-to-admit.sql',
    find: 'ORDER BY page.place',
    replace: 'ORDER BY page.lane, page.place',
    breaks: ['order'],
  },
  {
    name: 'fences forget the epoch',
    within: 'scripts/lib/fence.lua',
    find: "string.rep('0', 12 - #ARGV[1]) .. ARGV[1]",
    replace: "string.rep('0', 12)",
    breaks: ['fences grow'],
  },
  {
    name: 'a claim does not look at the epoch',
    within: '0005-claim.sql',
    find: 'IF committed_epoch IS DISTINCT FROM claim_tasks.epoch THEN',
    replace: 'IF false THEN',
    breaks: ['never two'],
    faults: ['flush redis', 'cut postgres'],
    work: { longPercent: 50, resources: 6 },
  },
  {
    name: 'a retry keeps its entry',
    within: '0006-finish.sql',
    find: "SET state = 'waiting', entry = t.entry + 1,",
    replace: "SET state = 'waiting', entry = t.entry,",
    breaks: ['once at most'],
  },
  {
    name: 'a rebuild forgets what rolls back',
    within: 'running-like.sql',
    find: "t.state IN ('running', 'canceling', 'rolling_back')",
    replace: "t.state IN ('running', 'canceling')",
    breaks: ['never two'],
    faults: ['flush redis'],
    work: { definitions: ['rolls-back', 'child-rolls-back'], longPercent: 50, resources: 6, failing: true },
  },
  {
    name: 'released before it is finished',
    within: '.js',
    find: 'const outcomes = await store.finishTasks(owner.incarnation, finishes);',
    replace: `this.#releasing.add(finishes.map(({ task, entry }) => ({ task, entry, settled: true, waits: false })));
    const outcomes = await store.finishTasks(owner.incarnation, finishes);`,
    breaks: ['nothing lost', 'nothing left', 'never two'],
  },
  {
    name: 'a deadline never passes',
    within: '.js',
    find: 'if (deadline !== null && isPast(deadline, now))',
    replace: 'if (false)',
    breaks: ['stopped in time', 'never two'],
    faults: ['cut postgres', 'lose replies of postgres'],
    work: { longPercent: 50 },
  },
  {
    name: 'children outlive their parents',
    within: 'worker/watchdog-thread.js',
    find: 'function killOwnGroup() {',
    replace: 'function killOwnGroup() {\n\treturn;',
    breaks: ['stopped in time', 'never two'],
    faults: ['kill worker'],
    // Each keeps a core busy.
    work: { definitions: ['spins'], longPercent: 100, longMs: [8_000, 14_000], resources: 3, perSecond: 1 },
  },
  {
    name: 'a worker is taken for dead before its TTL is over',
    within: '.js',
    find: 'now - since >= worker.ttlMs',
    replace: 'now - since >= worker.ttlMs * 0.6',
    breaks: ['never two'],
    faults: ['cut postgres', 'lose replies of postgres'],
    work: { longPercent: 80, resources: 6 },
  },
  {
    name: 'the holds of the dead stay in the table',
    within: '.js',
    find: 'await moveEach(recovery, moves);',
    replace: 'return;',
    breaks: ['recovered in time', 'nothing left', 'nothing lost'],
    faults: ['kill worker'],
  },
  {
    name: 'the tasks of the dead are left alone',
    within: '0009-lost-workers.sql',
    find: 'AND t.worker = settle_lost_tasks.worker\n    FOR NO KEY UPDATE SKIP LOCKED',
    replace: 'AND false\n    FOR NO KEY UPDATE SKIP LOCKED',
    breaks: ['recovered in time', 'nothing left', 'nothing lost'],
    faults: ['kill worker'],
  },
  {
    name: 'claims whose replies were lost are kept',
    within: '.js',
    find: 'if (twice.length === 0 || !incarnation.mayAct()) return;',
    replace: 'return;',
    breaks: ['nothing lost', 'nothing left'],
    faults: ['lose replies of redis', 'reset connections'],
    workers: 1,
  },
];

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = join(root, 'dist');

/** Makes it in a folder, and gives the path of its `dist`. Throws where the text does not occur any more. */
export function makeBrokenBuild(build: BrokenBuild, folder: string): string {
  const dist = join(folder, 'dist');
  cpSync(built, dist, { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const files = filesToBreak(build, dist);
  if (files.length === 0) throw new Error(`There is nothing to break any more for "${build.name}".`);
  for (const file of files) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(build.find, build.replace));
  }
  return dist;
}

/** Of a build, those in which the text occurs: a module may be bundled besides. */
export function filesToBreak({ within, find }: BrokenBuild, dist: string = built): string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(within))
    .map((file) => join(dist, file))
    .filter((file) => readFileSync(file, 'utf8').includes(find));
}
