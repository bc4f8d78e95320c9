import type { Rows } from './rows.js';

/** The database as a text. Left out: fences, and the absolute numbers of places. */
export function rowsText(rows: Rows): string {
  const { epoch, identity, phase, admission, rebuild } = rows;
  const byPlace = [...rows.tasks].sort((a, b) => a.place - b.place);
  const tasks = byPlace.map((task) => {
    const { state, entry, attempt, crashes, worker, admittedEpoch, takeOut, outcome, requester } = task;
    if (state === 'completed' || state === 'failed') return `${task.id}${state}${takeOut}`;
    const life = `${state}${entry}a${attempt}c${crashes}w${worker}e${admittedEpoch}t${takeOut}`;
    return `${task.id}${life}o${outcome}r${requester}${task.readmitted ? '+' : ''}`;
  });
  const transactions = [admission, rebuild].map(
    (one) =>
      one && `${one.kind}${one.abandoned}${JSON.stringify([...one.rows.values()])}${[...one.deleted].join()}`,
  );
  const workers = [rows.workers.keys(), rows.reaped, rows.stopped].map((all) => [...all].join()).join(';');
  return [epoch, identity, phase, ...tasks, ...transactions, workers].join('\n');
}
