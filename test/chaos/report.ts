import { hostname } from 'node:os';
import type { Recovery } from './history.js';
import type { ChaosResult } from './chaos.js';
import type { Versions } from './versions.js';
import { countedFrom } from './checks/recovered-in-time.js';
import { heldAnything, takenAgain } from './recovery-figures.js';
import { second } from './clock.js';
import { storyOf } from './story.js';

const mostStories = 5;

export interface Summary {
  ok: boolean;
  /** What asks for it again. */
  command: string;
  seed: number;
  minutes: number;
  redis: string;
  postgres: string;
  workers: number;
  tookSeconds: number;
  versions: Versions;
  operations: number;
  runs: number;
  tasks: Record<string, number>;
  faults: Record<string, number>;
  exits: Record<string, number>;
  answers: Record<string, number>;
  recovery: Record<'alone' | 'all' | 'takenAgain', Figures>;
  settledSeconds: number;
  violations: { property: string; text: string; story: string[] }[];
  failedFaults: string[];
}

/** In seconds. */
interface Figures {
  count: number;
  p50: number | null;
  max: number | null;
}

export function summaryOf(result: ChaosResult, args: string[]): Summary {
  const { options, history, violations, versions } = result;
  const { seed, minutes, stores, workers } = options;
  const withHolds = history.recoveries.filter((recovery) => heldAnything(history, recovery));
  return {
    ok: violations.length === 0,
    command: commandOf(args, seed),
    ...{ tookSeconds: Math.round(result.tookMs / 1_000), versions },
    ...{ seed, minutes, ...stores, workers, operations: result.operations, runs: history.runs.length },
    tasks: counted(history.rows.map(({ state }) => state)),
    faults: counted(history.faults.map(({ kind }) => kind)),
    exits: counted(history.processes.map(({ kind, exit }) => `${kind}: ${exit}`)),
    answers: result.answers,
    recovery: {
      alone: figures(withHolds.filter((recovery) => countedFrom(history, recovery).faults === 0).map(took)),
      all: figures(withHolds.map(took)),
      takenAgain: figures(takenAgain(history)),
    },
    settledSeconds: Math.round(result.settledMs / 100) / 10,
    violations: violations.map((violation, number) => ({
      property: violation.property,
      text: violation.text,
      story: number < mostStories ? storyOf(history, violation) : [],
    })),
    failedFaults: result.failures,
  };
}

export function textOf(summary: Summary): string {
  const { seed, minutes, redis, postgres, workers, recovery, violations, operations, runs, versions } =
    summary;
  const lines = [
    summary.command,
    `seed ${seed}, faults for ${minutes} min, ${summary.tookSeconds} s in all`,
    `Node ${versions.node}, Redis ${versions.redis} (${redis}), PostgreSQL ${versions.postgres} (${postgres}), ${versions.cores} cores`,
    `${workers} workers and an API process: ${operations} operations, ${runs} runs`,
    '',
    ...table('faults', summary.faults),
    ...table('tasks', summary.tasks),
    ...table('ends of processes', summary.exits),
    ...table('answers of the API process', summary.answers),
    'recovery of what a killed process had',
    `  free, with no other fault meanwhile         ${figuresText(recovery.alone)}`,
    `  free, all                                   ${figuresText(recovery.all)}`,
    `  taken again by one that had waited for it   ${figuresText(recovery.takenAgain)}`,
    `everything was final ${summary.settledSeconds} s after the last fault`,
    ...summary.failedFaults.map((failure) => `could not be inflicted: ${shortened(failure)}`),
    '',
  ];
  for (const { property, text, story } of violations) {
    lines.push(`VIOLATION of "${property}": ${text}`, ...story.map((line) => `  ${line}`));
  }
  const verdict =
    violations.length === 0 ? 'No violation.' : `${violations.length} violations. Again: ${summary.command}`;
  return [...lines, verdict].map(withoutPlaces).join('\n');
}

/** With the seed, also where it was drawn. */
function commandOf(args: string[], seed: number): string {
  const given = args.map((arg) => (/^[\w./=-]+$/.test(arg) ? arg : `'${arg}'`));
  const isGiven = args.some((arg) => /^--(?:seed|ci)\b/.test(arg));
  return ['npm run chaos --', ...given, ...(isGiven ? [] : ['--seed', seed])].join(' ');
}

/** A report may be shown to anybody: of a path only what it leads to, and no name of the machine. */
export function withoutPlaces(line: string): string {
  const machine = new RegExp(`\\b${hostname().replaceAll(/[^\w-]/g, '.')}\\b`, 'g');
  return line.replaceAll(machine, 'HOST').replaceAll(/(?<![\w:/.])(?:\/[\w.@+-]+)+\/(?=[\w.@+-])/g, '…/');
}

function counted(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function took({ killedAt, freeAt }: Recovery): number | null {
  return freeAt === null ? null : freeAt - killedAt;
}

function figures(microseconds: (number | null)[]): Figures {
  const known = microseconds.flatMap((one) => (one === null ? [] : [one / second])).toSorted((a, b) => a - b);
  return {
    count: microseconds.length,
    p50: known[Math.floor((known.length - 1) / 2)] ?? null,
    max: known.at(-1) ?? null,
  };
}

function figuresText({ count, p50, max }: Figures): string {
  const text = (value: number | null): string => (value === null ? '-' : `${value.toFixed(2)} s`);
  return `${String(count).padStart(4)}, p50 ${text(p50)}, max ${text(max)}`;
}

function table(title: string, counts: Record<string, number>): string[] {
  const widest = Math.max(...Object.keys(counts).map((name) => name.length), 0);
  return [
    title,
    ...Object.entries(counts).map(
      ([name, count]) => `  ${name.padEnd(widest)}  ${String(count).padStart(6)}`,
    ),
  ];
}

/** A command of many tasks names them all before it says why. */
function shortened(failure: string): string {
  const [first = '', ...others] = failure.split('\n').filter((line) => line.trim() !== '');
  return [first.slice(0, 120), ...others].join(' … ');
}
