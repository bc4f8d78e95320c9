import type { DispatchedTask } from '../tasks/dispatch/dispatch-signature.js';
import type { PreparedTask } from '../tasks/dispatch/prepare-task.js';
import type { ChildContext, ChildError, ChildLogLine, HandlerName } from './child-pool.js';

/** To a child, in this order: `load`, then one job after the other; `end` when it is no longer needed. */
export type ToChild =
  | { type: 'load'; taskFiles: string[]; watchdogAddress: string }
  | { type: 'job'; job: number; name: string; handler: HandlerName; payload: unknown; context: ChildContext }
  | { type: 'abort'; job: number; reason: string }
  | { type: 'answer'; job: number; id: number; answer: Answer }
  | { type: 'end' };

export type JobMessage = Extract<ToChild, { type: 'job' }>;

export type Answer = { ok: true; task: DispatchedTask } | { ok: false; error: ChildError };

/**
 * `armed`, then `ready` when the task files are loaded. All others belong to a job and name it: what a handler
 * sends after its end is dropped. `started`: right before the handler is called.
 */
export type FromChild =
  | { type: 'armed' }
  | { type: 'ready' }
  | { type: 'started'; job: number }
  | { type: 'progress'; job: number; value: unknown }
  | { type: 'log'; job: number; line: ChildLogLine }
  | { type: 'dispatch'; job: number; id: number; prepared: PreparedTask }
  | { type: 'settled'; job: number; outcome: SettledOutcome };

/** How a job ended, as its child tells it. */
export type SettledOutcome =
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: ChildError }
  | { status: 'not-started'; error: ChildError };

/**
 * What a child sent, as a message. A handler can write to the pipe as well, so the shape of each is checked here:
 * throws for one that the parent would trip over.
 */
export function fromChild(message: unknown): FromChild {
  if (isRecord(message) && shapes.get(message.type)?.(message) === true) return message as FromChild;
  throw new TypeError('A child sent something else than a message.');
}

type Fields = Record<string, unknown>;

const ofJob = (fits: (message: Fields) => boolean) => (message: Fields) =>
  typeof message.job === 'number' && fits(message);

const shapes: ReadonlyMap<unknown, (message: Fields) => boolean> = new Map([
  ['armed', () => true],
  ['ready', () => true],
  ['started', ofJob(() => true)],
  ['progress', ofJob((message) => message.value !== undefined)],
  ['log', ofJob(({ line }) => isRecord(line) && isLogLine(line))],
  [
    'dispatch',
    ofJob(({ id, prepared }) => typeof id === 'number' && isRecord(prepared) && isRecord(prepared.task)),
  ],
  ['settled', ofJob(({ outcome }) => isRecord(outcome) && isOutcome(outcome))],
]);

function isLogLine({ level, fields, message }: Fields): boolean {
  const levels: unknown[] = ['debug', 'info', 'warn', 'error'];
  return levels.includes(level) && isRecord(fields) && typeof message === 'string';
}

function isOutcome({ status, error }: Fields): boolean {
  if (status === 'completed') return true;
  const isError = isRecord(error) && typeof error.name === 'string' && typeof error.message === 'string';
  return isError && (status === 'failed' || status === 'not-started');
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
