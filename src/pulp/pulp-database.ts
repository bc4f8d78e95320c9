import { readFileSync } from 'node:fs';
import { NotConfigured } from '../errors.js';
import type { Database } from '../store/database.js';
import { createPostgresDatabase } from '../store/postgres-database.js';
import { sqlState } from '../store/store-error.js';
import type { ProcessRow } from './liveness.js';

/** A row of `core_task`, as far as locks go. */
export interface PulpTask {
  id: string;
  state: string;
  /** The row of `core_appstatus` whose process took it. */
  process: string | null;
  /** The resources that it reserves; those that start with `shared:` are shared. */
  resources: string[];
}

const processesText = sqlText('processes');
const tasksText = sqlText('tasks');

/** What is read of Pulp's PostgreSQL. */
export interface PulpRows {
  /** Whether there is anything to read from. */
  readonly known: boolean;
  /** The rows of all processes, or of those with this name, the latest heartbeat first. */
  processes(name?: string | null): Promise<ProcessRow[]>;
  /** Those of these tasks that exist, and the unfinished ones that these processes took. */
  tasks(ids: string[], processes?: string[]): Promise<PulpTask[]>;
  close(): Promise<void>;
}

/** Nothing is told of who is alive: whatever needs to know that fails. */
export const noRows: PulpRows = {
  known: false,
  processes: () =>
    Promise.reject(new NotConfigured("Only Pulp's PostgreSQL tells who is alive: give its URL.")),
  tasks: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

/** Pulp's PostgreSQL. It is read only, in transactions that PostgreSQL itself keeps from writing. */
export class PulpDatabase implements PulpRows {
  readonly known = true;
  readonly #database: Database;

  constructor(url: string) {
    if (!/^postgres(ql)?:\/\//.test(url)) {
      throw new NotConfigured('The database URL must look like postgres://user:password@host:5432/pulp.');
    }
    this.#database = createPostgresDatabase({ connection: url, connections: 2 });
  }

  processes(name: string | null = null): Promise<ProcessRow[]> {
    return this.read<ProcessRow>(processesText, [name]);
  }

  async tasks(ids: string[], processes: string[] = []): Promise<PulpTask[]> {
    const possible = ids.filter((id) => uuid.test(id));
    if (possible.length + processes.length === 0) return [];
    return await this.read<PulpTask>(tasksText, [possible, processes]);
  }

  async read<Row>(text: string, values: unknown[]): Promise<Row[]> {
    try {
      return await this.#database.transaction(async (transaction) => {
        await transaction.query('SET TRANSACTION READ ONLY');
        return (await transaction.query<Row>(text, values)).rows;
      });
    } catch (error) {
      throw isNotPulps(error) ? notPulps(error) : error;
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

function isNotPulps(error: unknown): error is Error {
  return ['3F000', '42P01', '42703'].includes(sqlState(error) ?? '');
}

/** Without its tables every owner would look like an orphan. */
function notPulps(error: Error): NotConfigured {
  return new NotConfigured(`This is not Pulp's database: ${error.message}. Give the URL of Pulp's own.`);
}

function sqlText(name: string): string {
  return readFileSync(new URL(`./queries/${name}.sql`, import.meta.url), 'utf8');
}
