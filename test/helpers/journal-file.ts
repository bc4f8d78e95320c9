import { appendFileSync, readFileSync } from 'node:fs';

/** What a handler knows about itself while it runs. */
export interface JournalSubject {
  task: string;
  entry: number;
  exclusive: string[];
  shared: string[];
  fence: string;
  /**
   * The place in the order that the test expects, as a decimal string: the task's place, or any number that grows
   * in order of admission. null: the order of this one is not judged.
   */
  order: string | null;
}

export interface JournalLine extends JournalSubject {
  /**
   * `alive` is written while it runs. For a handler that was killed, and so wrote no end, it is the last proof that
   * it ran.
   */
  kind: 'start' | 'alive' | 'end';
  /** Nanoseconds of the machine's monotonic clock, comparable between its processes; a decimal string. */
  at: string;
}

/**
 * What handlers themselves saw: an append-only file of JSON lines, written by any number of processes. It knows
 * nothing of the product, so it can tell on it.
 */
export interface Journal {
  path: string;
  start(subject: JournalSubject): void;
  alive(subject: JournalSubject): void;
  end(subject: JournalSubject): void;
}

export function openJournal(path: string): Journal {
  const append = (kind: JournalLine['kind'], subject: JournalSubject): void => {
    const { task, entry, exclusive, shared, fence, order } = subject;
    const at = process.hrtime.bigint().toString();
    const line: JournalLine = { kind, task, entry, at, exclusive, shared, fence, order };
    // One write to a file opened for appending: lines of several processes do not mix. The line break comes first,
    // so that what a killed process left half-written spoils no line but its own.
    appendFileSync(path, `\n${JSON.stringify(line)}`);
  };
  return {
    path,
    start: (subject) => append('start', subject),
    alive: (subject) => append('alive', subject),
    end: (subject) => append('end', subject),
  };
}

/** The lines of a journal, without what processes that were killed left half-written. */
export function readJournal(path: string): JournalLine[] {
  const lines: JournalLine[] = [];
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    if (text === '') continue;
    try {
      lines.push(JSON.parse(text) as JournalLine);
    } catch {
      continue;
    }
  }
  return lines;
}
