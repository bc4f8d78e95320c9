import type { ProcessLife } from './history.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What no log may tell: an error that nobody handles, and two that had the same resource. */
const never = /[Uu]nhandled|[Uu]ncaught|two running tasks conflict/;

/** In order, refused or fenced, without a store, and by the signals that the harness sends. */
const expectedExits = new Set(['0', '1', '3', 'SIGKILL', 'SIGTERM']);

/** What the processes said and how they ended, where it is wrong, as sentences. */
export function findComplaints(folder: string, lives: ProcessLife[]): string[] {
  const logs = readdirSync(folder).filter((file) => file.endsWith('.log'));
  return [
    ...logs.flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => never.test(line))
        .slice(0, 3)
        .map((line) => `${file} says: ${line.slice(0, 300)}`),
    ),
    ...lives
      .filter(({ exit }) => exit !== null && !expectedExits.has(exit))
      .map(({ name, pid, exit }) => `${name}, process ${pid}, ended with ${exit}.`),
  ];
}
