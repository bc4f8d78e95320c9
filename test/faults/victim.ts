import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FaultPoint } from '../../src/fault-points.js';
import type { TaskState } from '../../src/store/task-state.js';
import type { Place } from '../worker/place.js';
import type { Scenario } from './fault-scenarios.js';
import { loadTaskFiles } from '../../src/tasks/load-task-files.js';
import { type JournalLine, readJournal } from '../helpers/journal.js';
import { sharedPostgresUrl, sharedRedisUrl } from '../helpers/servers.js';
import { serverPlace } from '../worker/place.js';

const fixture = fileURLToPath(new URL('victim.mjs', import.meta.url));
const taskFile = fileURLToPath(new URL('fault-tasks.mjs', import.meta.url));

const limitMs = 60_000;

/** A successor of its name does not wait for it. */
const longTtlMs = 15_000;
/** An observer does. */
const shortTtlMs = 3_000;

/** A process that is to die at a fault point, in a namespace of its own. */
export class Victim {
  readonly name: string = 'victim';
  /** What is to become of the tasks. */
  readonly expected: Map<string, TaskState> = new Map();
  readonly place: Place;
  readonly journalPath: string;
  #process: ChildProcess | null = null;

  private constructor(place: Place, folder: string) {
    this.place = place;
    this.journalPath = join(folder, 'journal');
    place.onClose(async () => {
      this.#process?.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });
  }

  static async prepare(): Promise<Victim> {
    const place = await serverPlace();
    for (const one of await loadTaskFiles([taskFile])) place.definitions.set(one.name, one);
    return new Victim(place, mkdtempSync(join(tmpdir(), 'holdfast-')));
  }

  get process(): ChildProcess {
    if (this.#process === null) throw new Error('It is not started yet.');
    return this.#process;
  }

  payload(holds: string = 'r'): { journal: string; holds: string } {
    return { journal: this.journalPath, holds };
  }

  async dispatch(name: string, becomes: TaskState = 'completed'): Promise<void> {
    const { id } = await this.place.dispatcher.dispatch(name, this.payload());
    this.expected.set(id, becomes);
  }

  journal(): JournalLine[] {
    return existsSync(this.journalPath) ? readJournal(this.journalPath) : [];
  }

  async states(): Promise<(TaskState | undefined)[]> {
    const rows = [...this.expected.keys()].map(async (id) => this.place.store.getTask(id));
    return (await Promise.all(rows)).map((row) => row?.state);
  }

  /** Starts it; resolves with the signal that ended it. */
  async dieAt(point: FaultPoint, scenario: Scenario): Promise<string | null> {
    const { does = 'work', before, meanwhile, recoveredBy } = scenario;
    await before(this);
    const ttlMs = recoveredBy === 'observer' ? shortTtlMs : longTtlMs;
    const given = JSON.stringify({ does, ttlMs, journal: this.journalPath });
    this.#process = spawn(process.execPath, [fixture, given], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        HOLDFAST_DATABASE_URL: sharedPostgresUrl(),
        HOLDFAST_REDIS_URL: sharedRedisUrl(),
        HOLDFAST_NAMESPACE: this.place.namespace,
        HOLDFAST_WORKER_NAME: this.name,
        HOLDFAST_TEST_KILL_AT: point,
      },
    });
    const ended = once(this.#process, 'exit', { signal: AbortSignal.timeout(limitMs) });
    const [[, signal]] = (await Promise.all([ended, meanwhile?.(this)])) as [
      [number, string | null],
      unknown,
    ];
    return signal;
  }
}
