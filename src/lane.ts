/** What a worker must offer to take a task: its queue, a definition of its name, versions that meet its needs. */
export interface Lane {
  queue: string;
  name: string;
  needs: Record<string, string>;
}

/** The lane as one text: a JSON array with the needs in order of their names. */
export function laneText(lane: Lane): string {
  const needs = Object.entries(lane.needs).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([lane.queue, lane.name, Object.fromEntries(needs)]);
}

export function parseLane(text: string): Lane {
  const [queue, name, needs] = JSON.parse(text) as [string, string, Record<string, string>];
  return { queue, name, needs };
}
