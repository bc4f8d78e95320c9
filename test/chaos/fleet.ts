import type { ProcessLife } from './history.js';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../helpers/wait-until.js';
import { startLinks } from './links.js';
import { Member } from './member.js';

export interface FleetOptions {
  workers: number;
  ttlMs: number;
  /** The folder of the build: `dist`, or that of a broken one. */
  build: string;
  namespace: string;
  postgresUrl: string;
  redisUrl: string;
  redisPorts: number[];
  folder: string;
  /** In the environment of each process, to find it by. */
  mark: string;
  heard: (line: Record<string, unknown>) => void;
  signal: AbortSignal;
}

const taskFile = fileURLToPath(new URL('chaos-tasks.mjs', import.meta.url));
const apiFile = fileURLToPath(new URL('api-process.mjs', import.meta.url));
const redirection = new URL('redirect.mjs', import.meta.url).href;
const startLimitMs = 180_000;
const stopLimitMs = 40_000;

/** The processes under test: workers under fixed names, and one that serves an API. */
export class Fleet {
  readonly lives: ProcessLife[] = [];
  readonly workers: Member[];
  readonly api: Member;

  private constructor(workers: Member[], api: Member, lives: ProcessLife[]) {
    this.workers = workers;
    this.api = api;
    this.lives = lives;
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const lives: ProcessLife[] = [];
    const member = async (name: string, kind: ProcessLife['kind']): Promise<Member> => {
      const links = await startLinks(options.postgresUrl, options.redisPorts);
      const env = environment(options, name, links.postgres.url, links.redirect);
      const { heard } = options;
      const logPath = join(options.folder, `${name}.log`);
      const args = kind === 'worker' ? workerArgs(options, name) : [apiFile];
      return new Member({ name, kind, args, env, logPath, links, heard, began: (life) => lives.push(life) });
    };
    const names = Array.from({ length: options.workers }, (_, number) => `w${number + 1}`);
    const workers = await Promise.all(names.map((name) => member(name, 'worker')));
    const fleet = new Fleet(workers, await member('api', 'api'), lives);
    for (const one of fleet.members) one.start();
    try {
      await fleet.allReady(options.signal);
    } catch (error) {
      await fleet.abandon();
      throw error;
    }
    return fleet;
  }

  get members(): Member[] {
    return [...this.workers, this.api];
  }

  member(name: string): Member {
    const found = this.members.find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  }

  /** Once each worker takes tasks. Rejects when the signal aborts. */
  async allReady(signal: AbortSignal): Promise<void> {
    const ready = (): boolean => this.workers.every(({ life }) => life !== null && life.incarnation !== null);
    await waitUntil(() => signal.aborted || ready(), 'every worker takes tasks', startLimitMs);
    signal.throwIfAborted();
  }

  /** In order; what did not end so, as sentences. */
  async stop(): Promise<string[]> {
    const exits = await Promise.all(
      this.members.map(async (member) => [member.name, await member.stop(stopLimitMs)] as const),
    );
    await Promise.all(this.members.map(({ links }) => links.stop()));
    return exits
      .filter(([, exit]) => exit !== '0')
      .map(([name, exit]) => `${name} was told to stop and ended with ${exit}`);
  }

  /** At once, whatever they do. */
  async abandon(): Promise<void> {
    await Promise.all(this.members.map((member) => member.abandon()));
    await Promise.all(this.members.map(({ links }) => links.stop()));
  }
}

/** Served by that worker alone. */
export function ownQueue(name: string): string {
  return `of ${name}`;
}

function workerArgs({ build, ttlMs }: FleetOptions, name: string): string[] {
  const queues = ['default', 'side', ownQueue(name)].flatMap((queue) => ['--queue', queue]);
  const limits = ['--ttl', `${ttlMs}ms`, '--grace', '1s', '--concurrency', '6'];
  return [join(build, 'cli/main.js'), 'worker', '--tasks', taskFile, '--name', name, ...queues, ...limits];
}

function environment(
  options: FleetOptions,
  name: string,
  postgresUrl: string,
  redirect: Record<number, number>,
): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('HOLDFAST_'));
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    HOLDFAST_DATABASE_URL: postgresUrl,
    HOLDFAST_REDIS_URL: options.redisUrl,
    HOLDFAST_NAMESPACE: options.namespace,
    HOLDFAST_WORKER_NAME: name,
    NODE_OPTIONS: `--import=${redirection}`,
    CHAOS_REDIRECT: JSON.stringify(redirect),
    CHAOS_BUILD: options.build,
    CHAOS_JOURNAL: join(options.folder, 'journal'),
    CHAOS_MARK: options.mark,
  };
}
