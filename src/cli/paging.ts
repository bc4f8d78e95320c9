import type { Command } from 'commander';
import { integer } from './option-parsers.js';
import { shellWord } from './shell-word.js';
import { writeNote } from './write-output.js';

export interface PageOptions {
  limit: number;
  after?: string;
}

const mostPerPage = 1_000;

/** Adds what every list takes. */
export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', `at most so many, 1 … ${mostPerPage}`, integer('--limit', 1, mostPerPage), 50)
    .option('--after <cursor>', 'go on after a page: its "next"');
}

/** Tells the person at the terminal how to see the next page. */
export async function noteNextPage(next: string | null): Promise<void> {
  if (next !== null) await writeNote(`There is more: --after ${shellWord(next)}\n`);
}
