import type { TaskRow } from '../store/store.js';
import type { TaskContext, TaskDefinition } from '../tasks/definition.js';
import type { AttemptPorts } from './attempt-ports.js';
import type { ChildRequests, HandlerName } from './child-pool.js';
import type { HandlerEnd } from './handler-end.js';
import { runAsHandler } from '../handler-context.js';
import { loggerWith, safeLogger, type Logger } from '../log.js';
import { taskOf } from '../tasks/task.js';
import { callHandler } from './call-handler.js';
import { plainChildError } from './child-error.js';
import { childEnd, completedWith, threw } from './handler-end.js';

/** A handler that runs. */
export interface HandlerRun {
  /** Never rejects, and never resolves before the handler has returned or its process is gone. */
  end: Promise<HandlerEnd | 'not-started'>;
  /** Resolves when the handler itself runs, with the time by `performance.now()` from which its own counts. */
  started: Promise<number>;
  abort(reason: Error): void;
  /** SIGTERM. It and `kill` do nothing for a handler that runs inline: that can only be asked. */
  terminate(): void;
  /** SIGKILL. */
  kill(): void;
}

export interface HandlerStart {
  ports: AttemptPorts;
  definition: TaskDefinition;
  handler: HandlerName;
  row: TaskRow;
  /** Parsed. */
  payload: unknown;
  progress(update: unknown): void;
}

export function startHandler(start: HandlerStart): HandlerRun {
  const isolation = start.definition.isolation ?? start.ports.isolation;
  return isolation === 'child' ? startInChild(start) : startInline(start);
}

function startInline({ ports, definition, handler, row, payload, progress }: HandlerStart): HandlerRun {
  const controller = new AbortController();
  const context: TaskContext = {
    task: taskOf(row),
    attempt: row.attempt,
    signal: controller.signal,
    fence: row.fence ?? '',
    progress,
    dispatch: ports.dispatching.of(row.id),
    log: handlerLog(ports, row),
  };
  const run = async (): Promise<HandlerEnd> => {
    try {
      const caller = { task: row.id, lendSlot: () => ports.slots.lend() };
      return completedWith(
        await runAsHandler(caller, () => callHandler(definition, handler, payload, context)),
      );
    } catch (thrown) {
      context.log.warn({ err: plainChildError(thrown) }, 'the handler threw');
      return threw(thrown);
    }
  };
  const startedAt = performance.now();
  return {
    end: run(),
    started: Promise.resolve(startedAt),
    abort: (reason) => controller.abort(reason),
    terminate: () => {},
    kill: () => {},
  };
}

function startInChild({ ports, definition, handler, row, progress }: HandlerStart): HandlerRun {
  const log = handlerLog(ports, row);
  const requests: ChildRequests = {
    progress,
    log: ({ level, fields, message }) => log[level](fields, message),
    dispatch: (prepared) => ports.dispatching.insert(row.id, prepared),
  };
  const context = { task: taskOf(row), attempt: row.attempt, fence: row.fence ?? '' };
  const job = { name: definition.name, handler, payload: row.payload, context };
  const child = ports.children().run(job, requests);
  const end = child.outcome.then((outcome) => {
    if (outcome.status === 'not-started') log.error({ err: outcome.error }, 'no child could be started');
    if (outcome.status === 'failed') log.warn({ err: outcome.error }, 'the handler threw');
    if (outcome.status === 'died') log.warn({ ...outcome }, 'the child died in the middle of an attempt');
    return childEnd(outcome) ?? 'not-started';
  });
  return {
    end,
    started: child.started.then(() => performance.now()),
    abort: (reason) => child.abort(reason.message),
    terminate: () => child.terminate(),
    kill: () => child.kill(),
  };
}

function handlerLog({ incarnation }: AttemptPorts, { id, name, attempt }: TaskRow): Logger {
  return safeLogger(loggerWith(incarnation.log, { task: id, name, attempt }));
}
