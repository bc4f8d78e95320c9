import { expect, test } from 'vitest';
import type { Dispatch, Fault, History, ProcessLife, Row, Run } from './history.js';
import { check } from './checker.js';

const second = 1_000_000;

const worker: ProcessLife = {
  ...{ name: 'w1', kind: 'worker', pid: 100, incarnation: '1', startedAt: 0 },
  ...{ killedAt: null, exitedAt: null, exit: null, frozen: [], withoutPostgres: [] },
};
const other: ProcessLife = { ...worker, name: 'w2', pid: 200, incarnation: '2' };

function run(task: string, from: number, to: number, more: Partial<Run> = {}): Run {
  return {
    ...{
      task,
      entry: 1,
      part: 'run',
      fence: `1.${String(from).padStart(9, '0')}`,
      exclusive: ['r'],
      shared: [],
    },
    ...{ pid: 100, owner: 100, startAt: from, evidence: [to], endAt: to, outcome: 'ok' },
    ...more,
  };
}

/** It wrote until then, and never that it ends. */
const unended = (task: string, from: number, last: number, more: Partial<Run> = {}): Run =>
  run(task, from, last, { endAt: null, outcome: null, ...more });

/** It wrote every 50 ms from then until then. */
function writing(from: number, to: number): Partial<Run> {
  const evidence = [];
  for (let at = from; at <= to; at += second / 20) evidence.push(at);
  return { evidence };
}

const elsewhere = { pid: 200, owner: 200 };
const asChild = { pid: 101, owner: 100 };

function dispatch(id: string, place: number, more: Partial<Dispatch> = {}): Dispatch {
  const at = place * second;
  return {
    ...{ number: place, name: 'chaos.inline', queue: 'default', exclusive: ['r'], shared: [], id },
    ...{ place: String(place), begunAt: at, committedAt: at + 1, outcome: 'committed' },
    ...more,
  };
}

function row(id: string, more: Partial<Row> = {}): Row {
  return {
    ...{
      id,
      name: 'chaos.inline',
      state: 'failed',
      entry: 1,
      attempt: 1,
      crashes: 0,
      fence: null,
      place: '1',
    },
    ...{ maxAttempts: 3, error: 'as it should' },
    ...more,
  };
}

/** The properties that are violated, each once. */
function violated(history: Partial<History>): string[] {
  const whole: History = {
    ...{ ttl: 3 * second, observation: 5 * second, runs: [], processes: [worker, other], faults: [] },
    ...{ dispatches: [], rows: [], recoveries: [], leftovers: [] },
    ...history,
  };
  return [...new Set(check(whole).map(({ property }) => property))];
}

test('nothing is wrong with nothing, nor with runs after each other, nor with two that share', () => {
  expect(violated({})).toEqual([]);
  expect(violated({ runs: [run('a', 0, 10), run('b', 10, 20, elsewhere)] })).toEqual([]);
  const sharing = { exclusive: [], shared: ['r'] };
  expect(violated({ runs: [run('a', 0, 20, sharing), run('b', 10, 30, sharing)] })).toEqual([]);
});

test.each([
  ['two exclusive ones', {}, {}],
  ['a shared one beside an exclusive one', { exclusive: [], shared: ['r'] }, {}],
  ['an exclusive one beside a shared one', {}, { exclusive: [], shared: ['r'] }],
])('never two: %s', (_, first, second_) => {
  const runs = [run('a', 0, 20, first), run('b', 10, 30, { ...elsewhere, ...second_ })];
  expect(violated({ runs })).toEqual(['never two']);
});

test('never two: one that a short one hides, and one that wrote after another had started but never an end', () => {
  const sharing = { exclusive: [], shared: ['r'] };
  const hidden = [run('a', 0, 50, sharing), run('b', 5, 10, sharing), run('c', 20, 30, elsewhere)];
  expect(violated({ runs: hidden })).toEqual(['never two']);
  expect(violated({ runs: [unended('a', 0, 20), run('b', 10, 30, elsewhere)] })).toEqual(['never two']);
});

test('never two: an inline run without an end lasts until its process is killed, a child until its last line', () => {
  const processes = [{ ...worker, killedAt: 50 }, other];
  const next = run('b', 30, 60, elsewhere);
  expect(violated({ processes, runs: [unended('a', 0, 20), next] })).toEqual(['never two']);
  expect(violated({ processes, runs: [unended('a', 0, 20, asChild), next] })).toEqual([]);
});

test('what a frozen process writes while it is woken is excused, where its fence is smaller', () => {
  const processes = [{ ...worker, frozen: [{ from: second, to: 9 * second }] }, other];
  const next = run('b', 5 * second, 6 * second, elsewhere);
  const late = unended('a', 0, 9 * second + 1_000);
  expect(violated({ processes, runs: [late, next] })).toEqual([]);
  expect(violated({ processes, runs: [{ ...late, fence: '2' }, next] })).toEqual(['fences grow']);
  const tooLate = unended('a', 0, 11 * second, writing(9 * second, 11 * second));
  expect(violated({ processes, runs: [tooLate, next] })).toEqual(['never two', 'stopped in time']);
  const child = unended('a', 0, 9 * second, { ...asChild, ...writing(0, 9 * second) });
  expect(violated({ processes, runs: [child, next] })).toEqual(['never two', 'stopped in time']);
});

test('what a process writes that was frozen for a moment only counts', () => {
  const processes = [{ ...worker, frozen: [{ from: second, to: 2 * second }] }, other];
  const runs = [run('a', 0, 2 * second + 1_000), run('b', 2 * second, 3 * second, elsewhere)];
  expect(violated({ processes, runs })).toEqual(['never two']);
});

test('stopped in time: also where nobody has taken over', () => {
  const until = (to: number, more: Partial<Run> = {}): Run =>
    unended('a', 0, to, { ...writing(0, to), ...more });
  const cutOff = [{ ...worker, withoutPostgres: [{ from: second, to: 9 * second }] }];
  expect(violated({ processes: cutOff, runs: [until(4.2 * second)] })).toEqual([]);
  expect(violated({ processes: cutOff, runs: [until(4.4 * second)] })).toEqual(['stopped in time']);
  const api = [{ ...cutOff[0]!, kind: 'api' as const }];
  expect(violated({ processes: api, runs: [until(6 * second)] })).toEqual([]);
  const afterwards = run('a', 10 * second, 11 * second, writing(10 * second, 11 * second));
  expect(violated({ processes: cutOff, runs: [afterwards] })).toEqual([]);
  const shortly = [{ ...worker, withoutPostgres: [{ from: second, to: 3 * second }] }];
  expect(violated({ processes: shortly, runs: [until(6 * second)] })).toEqual([]);
  const killed = [{ ...worker, killedAt: second }];
  expect(violated({ processes: killed, runs: [until(6 * second, asChild)] })).toEqual(['stopped in time']);
});

test('stopped in time: what was given no time had none to stop in', () => {
  const cutOff = [{ ...worker, withoutPostgres: [{ from: second, to: 9 * second }] }];
  const kept = { evidence: [3.9 * second, ...(writing(6 * second, 6.2 * second).evidence ?? [])] };
  expect(violated({ processes: cutOff, runs: [unended('a', 0, 0, kept)] })).toEqual([]);
  const wentOn = { evidence: [3.9 * second, ...(writing(6 * second, 6.3 * second).evidence ?? [])] };
  expect(violated({ processes: cutOff, runs: [unended('a', 0, 0, wentOn)] })).toEqual(['stopped in time']);
});

test('order: who was committed before another was begun, and has the smaller place, is served first', () => {
  const runs = [run('b', 10 * second, 11 * second), run('a', 12 * second, 13 * second)];
  const rows = [row('a'), row('b')];
  const dispatches = [dispatch('a', 1), dispatch('b', 2)];
  expect(violated({ runs, rows, dispatches })).toEqual(['order']);
  expect(violated({ runs: runs.map((one) => ({ ...one, entry: 2 })), rows, dispatches })).toEqual([]);
  const overlapping = [dispatch('a', 1, { committedAt: 3 * second }), dispatch('b', 2)];
  expect(violated({ runs, rows, dispatches: overlapping })).toEqual([]);
  const sharing = runs.map((one) => ({ ...one, exclusive: [], shared: ['r'] }));
  expect(violated({ runs: sharing, rows, dispatches })).toEqual([]);
});

test('once at most', () => {
  const again = run('a', 20, 30, elsewhere);
  expect(violated({ runs: [run('a', 0, 10), again] })).toEqual(['once at most']);
  expect(violated({ runs: [run('a', 0, 10), { ...again, entry: 2 }] })).toEqual([]);
});

test('fences grow: an exclusive one exceeds all before it, a shared one the last exclusive one', () => {
  const first = run('a', 0, 10, { fence: '5' });
  const sharing = { exclusive: [], shared: ['r'] };
  expect(violated({ runs: [first, run('b', 20, 30, { fence: '5' })] })).toEqual(['fences grow']);
  expect(violated({ runs: [first, run('b', 20, 30, { fence: '4', ...sharing })] })).toEqual(['fences grow']);
  const shared = [run('b', 20, 30, { fence: '7', ...sharing }), run('c', 20, 30, { fence: '6', ...sharing })];
  expect(violated({ runs: [first, ...shared] })).toEqual([]);
  expect(violated({ runs: [first, ...shared, run('d', 40, 50, { fence: '6' })] })).toEqual(['fences grow']);
});

test('nothing lost: what was committed is there and final, what was not is not there and did not run', () => {
  const committed = [dispatch('a', 1)];
  expect(violated({ dispatches: committed, rows: [row('a')] })).toEqual([]);
  expect(violated({ dispatches: committed })).toEqual(['nothing lost']);
  expect(violated({ dispatches: committed, rows: [row('a', { state: 'waiting' })] })).toEqual([
    'nothing lost',
  ]);
  const absent = [dispatch('a', 1, { outcome: 'absent', committedAt: null })];
  expect(violated({ dispatches: absent })).toEqual([]);
  expect(violated({ dispatches: absent, rows: [row('a')] })).toEqual(['nothing lost']);
  expect(violated({ dispatches: absent, runs: [run('a', 0, 10)] })).toEqual(['nothing lost']);
  const unknown = [dispatch('a', 1, { outcome: 'unknown', committedAt: null })];
  expect(violated({ dispatches: unknown })).toEqual([]);
  expect(violated({ dispatches: unknown, rows: [row('a')] })).toEqual([]);
});

test('nothing lost: what is completed has run to its end as that very entry, and as often as it may', () => {
  const completed = row('a', { state: 'completed', fence: '1' });
  expect(violated({ rows: [completed], runs: [run('a', 0, 10, { fence: '1' })] })).toEqual([]);
  for (const wrong of [{ entry: 2 }, { fence: '2' }, { outcome: 'error' }, { part: 'rollback' }] as const) {
    expect(violated({ rows: [completed], runs: [run('a', 0, 10, { fence: '1', ...wrong })] })).toEqual([
      'nothing lost',
    ]);
  }
  expect(violated({ rows: [row('a', { attempt: 4 })] })).toEqual(['nothing lost']);
});

test('recovered in time: counted anew from the end of each fault that came meanwhile', () => {
  const recovery = { process: 'w1', incarnation: '1', killedAt: second, held: 1 };
  expect(violated({ recoveries: [{ ...recovery, freeAt: 9 * second }] })).toEqual([]);
  expect(violated({ recoveries: [{ ...recovery, freeAt: null }] })).toEqual(['recovered in time']);
  const late = { ...recovery, freeAt: 14 * second };
  expect(violated({ recoveries: [late] })).toEqual(['recovered in time']);
  const ofApi = { ...recovery, process: 'api', freeAt: 20 * second };
  expect(violated({ recoveries: [ofApi] })).toEqual([]);
  expect(violated({ recoveries: [{ ...ofApi, freeAt: 24 * second }] })).toEqual(['recovered in time']);
  const itself = { kind: 'kill worker', target: 'w1', from: second, to: second };
  expect(violated({ recoveries: [late], faults: [itself] })).toEqual(['recovered in time']);
  const meanwhile = { kind: 'freeze redis', target: '', from: 2 * second, to: 5 * second };
  expect(violated({ recoveries: [late], faults: [meanwhile] })).toEqual([]);
  const before = { ...meanwhile, from: 0, to: second / 2 };
  expect(violated({ recoveries: [late], faults: [before] })).toEqual(['recovered in time']);
});

test('recovered in time: what keeps nobody from observing is no excuse, nor what leaves one who observes', () => {
  const recovery = { process: 'w1', incarnation: '1', killedAt: 20 * second, held: 1, freeAt: 60 * second };
  const every = (kind: string, target: string): Fault[] =>
    Array.from({ length: 40 }, (_, n) => ({ kind, target, from: (20 + n) * second, to: (20 + n) * second }));
  const recoveries = [recovery];
  const late = ['recovered in time'];
  expect(violated({ recoveries, faults: every('flush redis', '') })).toEqual([]);
  for (const kind of ['cancel many', 'pause queue', 'flush scripts'])
    expect(violated({ recoveries, faults: every(kind, '') })).toEqual(late);
  const observer = { ...other, name: 'w9', startedAt: 0 };
  const frozen = every('freeze process', 'w2');
  expect(violated({ recoveries, faults: frozen, processes: [worker, observer] })).toEqual(late);
  for (const away of [{ name: 'w2' }, { startedAt: 15 * second }, { exitedAt: 25 * second }]) {
    const processes = [worker, { ...observer, ...away }];
    expect(violated({ recoveries, faults: frozen, processes })).toEqual([]);
  }
  // From the last that hit all of them on: its end, a TTL, a period, and what is allowed besides.
  const flushed = [{ kind: 'flush redis', target: '', from: 55 * second, to: 55 * second }];
  expect(violated({ recoveries, faults: [...frozen, ...flushed], processes: [worker, observer] })).toEqual(
    late,
  );
});

test('nothing left', () => {
  expect(violated({ leftovers: ['Key x is left.'] })).toEqual(['nothing left']);
});
