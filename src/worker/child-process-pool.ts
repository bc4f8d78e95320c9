import { setTimeout as pause } from 'node:timers/promises';
import { ChildHandle, notStarted } from './child-handle.js';
import type { ChildJob, ChildPool, ChildPoolOptions, ChildRequests, ChildRun } from './child-pool.js';

/** After SIGKILL a process is gone at once, unless the kernel has it stuck: nobody waits longer for it. */
const killLimitMs = 2_000;

/** Hands each job to the child that was idle last, so that those beyond the need stay idle and are ended. */
export class ChildProcessPool implements ChildPool {
  readonly #options: Required<ChildPoolOptions>;
  readonly #children = new Set<ChildHandle>();
  readonly #idle = new Map<ChildHandle, NodeJS.Timeout>();
  #stopping: Promise<void> | null = null;

  constructor(options: ChildPoolOptions) {
    this.#options = { idleLimitMs: 30_000, loadLimitMs: 30_000, stopGraceMs: 2_000, ...options };
  }

  run(job: ChildJob, requests: ChildRequests): ChildRun {
    if (this.#stopping !== null) return neverRun('The pool of children is stopped.');
    const child = this.#takeIdle() ?? this.#start();
    const run = child.run(job, requests);
    void run.outcome.then(() => this.#keepIdle(child));
    return run;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const idle = [...this.#idle.keys()];
    for (const child of this.#children) {
      if (idle.includes(child)) this.#endIdle(child);
      else child.terminate();
    }
    await this.#allGone(this.#options.stopGraceMs);
    for (const child of this.#children) child.kill();
    await this.#allGone(killLimitMs);
  }

  async #allGone(limitMs: number): Promise<void> {
    const over = new AbortController();
    const limit = pause(limitMs, null, { signal: over.signal }).catch(() => {});
    await Promise.race([Promise.all([...this.#children].map((child) => child.gone)), limit]);
    over.abort();
  }

  #start(): ChildHandle {
    const child = new ChildHandle(this.#options);
    this.#children.add(child);
    void child.gone.then(() => this.#forget(child));
    return child;
  }

  #takeIdle(): ChildHandle | null {
    const child = [...this.#idle.keys()].findLast(({ reusable }) => reusable) ?? null;
    if (child !== null) this.#notIdle(child);
    return child;
  }

  #keepIdle(child: ChildHandle): void {
    if (!child.reusable || this.#stopping !== null) return child.end();
    this.#idle.set(
      child,
      setTimeout(() => this.#endIdle(child), this.#options.idleLimitMs),
    );
  }

  #endIdle(child: ChildHandle): void {
    this.#notIdle(child);
    child.end();
  }

  #notIdle(child: ChildHandle): void {
    clearTimeout(this.#idle.get(child));
    this.#idle.delete(child);
  }

  #forget(child: ChildHandle): void {
    this.#notIdle(child);
    this.#children.delete(child);
  }
}

function neverRun(why: string): ChildRun {
  return {
    outcome: Promise.resolve(notStarted(why)),
    started: new Promise(() => {}),
    abort: () => {},
    terminate: () => {},
    kill: () => {},
  };
}
