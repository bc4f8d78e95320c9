/** What a worker must offer to take a task: its queue, a definition of its name, versions that meet its needs. */
export interface Lane {
  queue: string;
  name: string;
  needs: Record<string, string>;
  /** The one incarnation that may take it: an ad-hoc lock is its requester's. Not there: any worker. */
  requester?: string;
}

/**
 * The lane as one text: a JSON array, written as PostgreSQL writes jsonb (a space after each comma and colon; the
 * needs in order of the length of their names, then of their bytes), because the store computes it in SQL.
 */
export function laneText({ queue, name, needs, requester }: Lane): string {
  const texts = Object.entries(needs)
    .map(([library, range]) => ({ key: Buffer.from(library), text: `${json(library)}: ${json(range)}` }))
    .sort((a, b) => a.key.length - b.key.length || Buffer.compare(a.key, b.key))
    .map(({ text }) => text);
  const whose = requester === undefined ? '' : `, ${json(requester)}`;
  return `[${json(queue)}, ${json(name)}, {${texts.join(', ')}}${whose}]`;
}

function json(text: string): string {
  return JSON.stringify(text);
}

export function parseLane(text: string): Lane {
  type Parts = [string, string, Record<string, string>, string?];
  const [queue, name, needs, requester] = JSON.parse(text) as Parts;
  return { queue, name, needs, ...(requester !== undefined && { requester }) };
}

/** The queue that the rows of ad-hoc locks are in: a name of its own, since a lock is never paused. */
export const lockQueue = 'holdfast.locks';
