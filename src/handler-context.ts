import { AsyncLocalStorage } from 'node:async_hooks';

/** A handler that runs in this process. Known to all that it calls, across every await. */
export interface RunningHandler {
  /** The task that it runs. */
  task: string;
  /** Lets another task run in place of this one, until the returned function is called. */
  lendSlot(): () => void;
}

const context = new AsyncLocalStorage<RunningHandler>();

/** By the task that waits: the tasks that its handler waits for. */
const awaited = new Map<string, string[]>();

export function runAsHandler<T>(handler: RunningHandler, run: () => T): T {
  return context.run(handler, run);
}

/** Whose handler asks; undefined outside of handlers. */
export function currentHandler(): RunningHandler | undefined {
  return context.getStore();
}

/** Says that a handler of `task` waits for `other`, until the returned function is called. */
export function noteWait(task: string, other: string): () => void {
  awaited.set(task, [...awaitedBy(task), other]);
  return () => {
    const others = [...awaitedBy(task)];
    others.splice(others.indexOf(other), 1);
    if (others.length > 0) awaited.set(task, others);
    else awaited.delete(task);
  };
}

/** What a handler of the task waits for in this process. */
export function awaitedBy(task: string): readonly string[] {
  return awaited.get(task) ?? [];
}
