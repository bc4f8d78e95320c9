import pg from 'pg';
import type { Database, Queryable } from '../../src/store/database.js';
import { postgresTypes } from '../../src/store/postgres-types.js';

/** A node of a plan as EXPLAIN prints it in JSON, as far as the tests read it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

export interface Plan {
  'Query Text': string;
  Plan: PlanNode;
  JIT?: unknown;
}

/** One connection whose every plan, of statements inside functions too, is collected as it is executed. */
export interface ExplainingDatabase extends Database {
  /** The plans executed while `work` runs. */
  plansOf(work: () => Promise<unknown>): Promise<Plan[]>;
}

export async function openExplainingDatabase(url: string): Promise<ExplainingDatabase> {
  const client = new pg.Client({ connectionString: url, types: postgresTypes });
  await client.connect();
  await client.query("LOAD 'auto_explain'");
  await client.query(`
    SET auto_explain.log_nested_statements = on; SET auto_explain.log_analyze = on;
    SET auto_explain.log_buffers = on; SET auto_explain.log_timing = off;
    SET auto_explain.log_format = json; SET auto_explain.log_level = notice`);
  const query: Queryable['query'] = async <Row>(text: string, values?: unknown[]) => {
    const { rows } = await client.query<Row & pg.QueryResultRow>(text, values);
    return { rows: rows as Row[] };
  };
  return {
    kind: 'postgres',
    query,
    transaction: async (work) => {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      try {
        const result = await work({ query });
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      }
    },
    listen: () => Promise.reject(new Error('not here')),
    close: () => client.end(),
    plansOf: async (work) => {
      const plans: Plan[] = [];
      const collect = ({ message = '' }: { message?: string | undefined }): void => {
        const start = message.indexOf('plan:');
        if (message.startsWith('duration:') && start >= 0) {
          plans.push(JSON.parse(message.slice(start + 'plan:'.length)) as Plan);
        }
      };
      client.on('notice', collect);
      await client.query('SET auto_explain.log_min_duration = 0');
      try {
        await work();
      } finally {
        await client.query('SET auto_explain.log_min_duration = -1');
        client.off('notice', collect);
      }
      return plans;
    },
  };
}

export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Of a whole plan: a node counts what is below it as well. */
export function buffersOf({ Plan }: Plan): number {
  return (Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0);
}
