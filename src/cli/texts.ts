import type { Owner } from '../owner.js';
import type { Task } from '../tasks/task.js';

/** ISO 8601 in UTC without the milliseconds: what people compare by eye. */
export function timeText(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

export function ownerName(owner: Owner | null): string {
  return owner === null ? '' : `${owner.name}:${owner.incarnation}`;
}

/** How long the last attempt took, for people; empty while there is no answer. */
export function tookText({ startedAt, finishedAt }: Pick<Task, 'startedAt' | 'finishedAt'>): string {
  if (startedAt === null || finishedAt === null) return '';
  return durationText(Date.parse(finishedAt) - Date.parse(startedAt));
}

export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes}m${Math.round((ms % 60_000) / 1_000)}s`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1_024 ** power).toFixed(1)} ${units[power - 1] ?? ''}`;
}
