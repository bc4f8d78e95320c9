import type { Moment } from './deadline.js';

/** What a watchdog is told, one JSON text a line: the deadline, null where there is none. */
export function deadlineLine(deadline: Moment | null): string {
  return `${JSON.stringify({ deadline })}\n`;
}

/** Collects chunks and calls `onDeadline` for each whole line. */
export function deadlineReader(onDeadline: (deadline: Moment | null) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onDeadline((JSON.parse(line) as { deadline: Moment | null }).deadline);
  };
}
