import type { Rows, StoredTask } from './rows.js';

/** The database as a text. Left out: fences, and the absolute numbers of places. */
export function rowsText(rows: Rows): string {
  const { epoch, identity, phase, admission, rebuild } = rows;
  const byPlace = [...rows.tasks].sort((a, b) => a.place - b.place);
  const tasks = byPlace.map(taskText);
  const transactions = [admission, rebuild].map(
    (one) =>
      one &&
      `${one.kind}${one.abandoned}${[...one.rows.values()].map(taskText).join()}${[...one.deleted].join()}${one.opens?.epoch}`,
  );
  const from = [...rows.workers.values()].map(({ insertsFrom }) => insertsFrom);
  const workers = [rows.workers.keys(), rows.reaped, rows.stopped, from]
    .map((all) => [...all].join())
    .join(';');
  return [epoch, identity, phase, ...tasks, ...transactions, workers].join('\n');
}

function taskText(task: StoredTask): string {
  const { id, state, entry, attempt, crashes, worker, admittedEpoch, takeOut, outcome, requester } = task;
  if (state === 'completed' || state === 'failed') return `${id}${state}${takeOut}`;
  const life = `${state}${entry}a${attempt}c${crashes}w${worker}e${admittedEpoch}t${takeOut}`;
  return `${id}${life}o${outcome}r${requester}${task.readmitted ? '+' : ''}`;
}
