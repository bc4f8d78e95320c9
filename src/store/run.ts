import type { Queryable } from './database.js';
import type { Sql } from './sql-file.js';
import { storeError } from './store-error.js';

/** Runs a query file with its values and returns the rows. */
export type Run = <Row>(sql: Sql, values?: unknown[]) => Promise<Row[]>;

export function runOn(queryable: Queryable, namespace: string): Run {
  return async <Row>(sql: Sql, values: unknown[] = []): Promise<Row[]> => {
    try {
      const { rows } = await queryable.query<Row>(sql(namespace), values);
      return rows;
    } catch (error) {
      throw storeError(error, namespace);
    }
  };
}
