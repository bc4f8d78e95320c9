import pg from 'pg';
import { sharedPostgresUrl } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';

/** A connection that a test drives statement by statement. */
export interface Session {
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openSession(url: string = sharedPostgresUrl()): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return {
    query: async (text, values) => (await client.query<Record<string, unknown>>(text, values)).rows,
    close: () => client.end(),
  };
}

/** Resolves when `count` calls whose text contains `part` wait for a lock. Texts carry the namespace. */
export async function untilCallsWait(watch: Session, part: string, count = 1): Promise<void> {
  await waitUntil(
    async () => (await waitingCalls(watch, part)) === count,
    `${count} of ${part} wait for a lock`,
  );
}

/** Resolves when no call whose text contains `part` is under way. */
export async function untilCallsEnd(watch: Session, part: string): Promise<void> {
  const text = `SELECT FROM pg_stat_activity
    WHERE state = 'active' AND pid <> pg_backend_pid() AND position($1 IN query) > 0`;
  await waitUntil(async () => (await watch.query(text, [part])).length === 0, `no ${part} is under way`);
}

async function waitingCalls(watch: Session, part: string): Promise<number> {
  const text = `SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid() AND position($1 IN query) > 0`;
  return (await watch.query(text, [part])).length;
}
