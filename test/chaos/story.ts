import type { History, Violation } from './history.js';
import { second } from './clock.js';

const most = 60;

/** All that is known around a violation, in order of time: of its tasks, of its resource, of processes and faults. */
export function storyOf(history: History, violation: Violation): string[] {
  const { tasks, resource } = violation;
  const start = Math.min(...history.processes.map(({ startedAt }) => startedAt));
  const events = [...runEvents(history, tasks, resource), ...dispatchEvents(history, tasks)];
  if (violation.at !== null) events.push([violation.at, `!! ${violation.text}`]);
  const times = events.map(([at]) => at);
  const [from, to] = [Math.min(...times) - 2 * second, Math.max(...times) + 2 * second];
  events.push(...surroundings(history).filter(([at]) => at >= from && at <= to));
  const rows = history.rows.filter(({ id }) => tasks.includes(id)).map(rowText);
  const sorted = events.toSorted(([a], [b]) => a - b);
  // Where it is long, what lies around the violation tells most.
  const middle = violation.at === null ? sorted.length : sorted.findIndex(([at]) => at >= violation.at!);
  const first = Math.max(0, Math.min(middle - most / 2, sorted.length - most));
  return [
    ...sorted
      .slice(first, first + most)
      .map(([at, text]) => `${((at - start) / second).toFixed(3).padStart(9)} s  ${text}`),
    ...rows,
  ];
}

type Event = [at: number, text: string];

function runEvents({ runs, processes }: History, tasks: string[], resource: string | undefined): Event[] {
  return runs
    .filter(
      (run) =>
        tasks.includes(run.task) ||
        (resource !== undefined && [...run.exclusive, ...run.shared].includes(resource)),
    )
    .flatMap((run): Event[] => {
      const owner = processes.findLast(({ pid, startedAt }) => pid === run.owner && startedAt <= run.startAt);
      const mode =
        resource === undefined ? '' : run.exclusive.includes(resource) ? ', exclusive' : ', shared';
      const where = `${owner?.name ?? 'unknown'}${run.pid === run.owner ? '' : `, child ${run.pid}`}`;
      const name = `${run.part} ${run.task} entry ${run.entry}`;
      const begin: Event = [run.startAt, `${name} starts in ${where}${mode}, fence ${run.fence}`];
      if (run.endAt !== null) return [begin, [run.endAt, `${name} ends: ${run.outcome}`]];
      return [begin, [run.evidence.at(-1) ?? run.startAt, `${name} is seen for the last time, in ${where}`]];
    });
}

function dispatchEvents({ dispatches }: History, tasks: string[]): Event[] {
  return dispatches
    .filter(({ id }) => id !== null && tasks.includes(id))
    .flatMap(({ id, name, place, begunAt, committedAt, outcome, exclusive, shared }): Event[] => {
      const wanted = `exclusive [${exclusive.join(' ')}], shared [${shared.join(' ')}]`;
      const begun: Event = [
        begunAt,
        `${name} ${id} is dispatched, place ${place ?? 'not judged'}, ${wanted}`,
      ];
      return committedAt === null
        ? [begun, [begunAt, `${id}: its commit is ${outcome}`]]
        : [begun, [committedAt, `${id}: committed`]];
    });
}

function surroundings({ faults, processes }: History): Event[] {
  const over = ({ from, to }: { from: number; to: number }): boolean => to - from > second / 20;
  return [
    ...faults.flatMap((fault): Event[] => {
      const text = `${fault.kind} ${fault.target}`.trim();
      return over(fault)
        ? [
            [fault.from, `-- ${text}: begins`],
            [fault.to, `-- ${text}: is over`],
          ]
        : [[fault.from, `-- ${text}`]];
    }),
    ...processes.flatMap(({ name, pid, incarnation, startedAt, exitedAt, exit }): Event[] => [
      [startedAt, `-- ${name} is started as process ${pid}, incarnation ${incarnation ?? 'unknown'}`],
      ...(exitedAt === null
        ? []
        : [[exitedAt, `-- ${name}, process ${pid}, ended with ${exit}`] satisfies Event]),
    ]),
  ];
}

function rowText({
  id,
  name,
  state,
  entry,
  attempt,
  crashes,
  fence,
  place,
  error,
}: History['rows'][number]): string {
  return `      row  ${name} ${id}: ${state}, entry ${entry}, attempt ${attempt}, crashes ${crashes}, place ${place}, fence ${fence ?? '-'}${error === null ? '' : `, ${error}`}`;
}
