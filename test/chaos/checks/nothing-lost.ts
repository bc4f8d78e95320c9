import type { Dispatch, History, Row, Run, Violation } from '../history.js';

const final = new Set(['completed', 'failed', 'canceled']);

/**
 * G5: each task whose commit was confirmed is there and final; one that was not committed is not there, and nobody ran
 * it; one of which that is not known is one or the other. What is completed has run to its end with that very entry, and
 * nothing was attempted more often than it may be.
 */
export function nothingLost({ dispatches, rows, runs }: History): Violation[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ran = new Set(runs.map(({ task }) => task));
  const completed = new Set(
    runs.filter(({ outcome, part }) => outcome === 'ok' && part === 'run').map(runKey),
  );
  return [
    ...dispatches.flatMap((dispatch) => judgeDispatch(dispatch, byId, ran)),
    ...rows.flatMap((row) => judgeRow(row, completed)),
  ];
}

function judgeDispatch(dispatch: Dispatch, rows: Map<string, Row>, ran: Set<string>): Violation[] {
  const { id, outcome, name } = dispatch;
  if (id === null) return [];
  const violation = (text: string): Violation[] => [
    { property: 'nothing lost', text: `${name} ${id} ${text}`, at: dispatch.begunAt, tasks: [id] },
  ];
  const isThere = rows.has(id);
  if (outcome === 'committed' && !isThere) return violation('was committed, and is gone.');
  if (outcome === 'absent' && isThere) return violation('was not committed, and is there.');
  if (!isThere && ran.has(id)) return violation('ran, and is not there.');
  return [];
}

function judgeRow(row: Row, completed: Set<string>): Violation[] {
  const { id, name, state, entry, fence, attempt, maxAttempts } = row;
  const texts = [];
  if (!final.has(state)) texts.push(`is ${state}.`);
  if (state === 'completed' && !completed.has(runKey({ task: id, entry, fence: fence ?? '' }))) {
    texts.push(`is completed with entry ${entry} and fence ${fence}, which has not run to its end.`);
  }
  if (maxAttempts !== null && attempt > maxAttempts) texts.push(`had ${attempt} attempts of ${maxAttempts}.`);
  return texts.map((text) => ({
    property: 'nothing lost',
    text: `${name} ${id} ${text}`,
    at: null,
    tasks: [id],
  }));
}

function runKey({ task, entry, fence }: Pick<Run, 'task' | 'entry' | 'fence'>): string {
  return `${task} ${entry} ${fence}`;
}
