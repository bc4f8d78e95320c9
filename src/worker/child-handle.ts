import { Unavailable } from '../errors.js';
import { plainChildError } from './child-error.js';
import type { Answer, FromChild, SettledOutcome } from './child-messages.js';
import type { ChildJob, ChildOutcome, ChildRequests, ChildRun } from './child-pool.js';
import type { ChildExit, SpawnedChild } from './child-process.js';
import { spawnChild } from './child-process.js';

const endLimitMs = 2_000;

export interface ChildOptions {
  taskFiles: string[];
  watchdogAddress: string;
  loadLimitMs: number;
}

interface RunningJob {
  id: number;
  started: boolean;
  onStarted: () => void;
  requests: ChildRequests;
  settle: (outcome: ChildOutcome) => void;
}

/** One child process, as its parent sees it: one job at a time. */
export class ChildHandle {
  /** Resolves when the process and its group are gone. */
  readonly gone: Promise<void>;
  readonly #process: SpawnedChild;
  /** Of loading, and later of ending. */
  #limit: NodeJS.Timeout;
  #stage: 'starting' | 'armed' | 'ready' = 'starting';
  #ending = false;
  #killedByUs = false;
  #job: RunningJob | null = null;
  #jobs = 0;
  #loadedTooLate = false;
  #isGone = false;

  constructor(options: ChildOptions) {
    this.#process = spawnChild(options.watchdogAddress, (message) => this.#hear(message));
    this.#limit = setTimeout(() => this.#refuseToLoad(), options.loadLimitMs);
    this.gone = this.#process.exited.then(
      (exit) => this.#end(this.#died(exit)),
      (error: unknown) => this.#end(notStarted(`No child process could be started: ${messageOf(error)}`)),
    );
    const { taskFiles, watchdogAddress } = options;
    this.#process.send({ type: 'load', taskFiles, watchdogAddress });
  }

  /** Whether it can take another job. */
  get reusable(): boolean {
    return this.#stage === 'ready' && !this.#ending && this.#job === null;
  }

  run(job: ChildJob, requests: ChildRequests): ChildRun {
    const id = ++this.#jobs;
    let onStarted = (): void => {};
    const started = new Promise<void>((resolve) => {
      onStarted = resolve;
    });
    const outcome = new Promise<ChildOutcome>((settle) => {
      this.#job = { id, started: false, onStarted, requests, settle };
    });
    this.#process.send({ type: 'job', job: id, ...job });
    // The child runs other jobs after this one, and must not be hit by a late call.
    const ifRunning = (act: () => void): void => {
      if (this.#job?.id === id) act();
    };
    return {
      outcome,
      started,
      abort: (reason) => ifRunning(() => this.#process.send({ type: 'abort', job: id, reason })),
      terminate: () => ifRunning(() => this.terminate()),
      kill: () => ifRunning(() => this.kill()),
    };
  }

  /** For a child without a job. */
  end(): void {
    if (this.#isGone) return;
    this.#ending = true;
    this.#process.send({ type: 'end' });
    clearTimeout(this.#limit);
    // What an earlier handler left running may keep it from hearing.
    this.#limit = setTimeout(() => this.kill(), endLimitMs);
  }

  terminate(): void {
    this.#signal('SIGTERM');
  }

  kill(): void {
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    this.#ending = true;
    this.#killedByUs = true;
    this.#process.signal(signal);
  }

  #hear(message: FromChild): void {
    if (message.type === 'armed') this.#stage = 'armed';
    else if (message.type === 'ready') this.#loaded();
    else if (message.job !== this.#job?.id) return;
    else if (message.type === 'started') this.#started(this.#job);
    else if (message.type === 'progress') this.#job.requests.progress(message.value);
    else if (message.type === 'log') this.#job.requests.log(message.line);
    else if (message.type === 'settled') this.#settle(message.outcome);
    else void this.#dispatch(this.#job, message);
  }

  #started(job: RunningJob): void {
    job.started = true;
    job.onStarted();
  }

  #loaded(): void {
    clearTimeout(this.#limit);
    this.#stage = 'ready';
  }

  #refuseToLoad(): void {
    this.#loadedTooLate = true;
    this.kill();
  }

  async #dispatch(job: RunningJob, message: Extract<FromChild, { type: 'dispatch' }>): Promise<void> {
    let answer: Answer;
    try {
      answer = { ok: true, task: await job.requests.dispatch(message.prepared) };
    } catch (error) {
      answer = { ok: false, error: plainChildError(error) };
    }
    this.#process.send({ type: 'answer', job: job.id, id: message.id, answer });
  }

  #settle(outcome: SettledOutcome | ChildOutcome): void {
    const job = this.#job;
    this.#job = null;
    job?.settle(outcome);
  }

  #end(outcome: ChildOutcome): void {
    clearTimeout(this.#limit);
    this.#isGone = true;
    this.#ending = true;
    this.#settle(outcome);
  }

  #died(exit: ChildExit): ChildOutcome {
    if (this.#loadedTooLate && this.#stage === 'armed') {
      const message = 'A child process did not load the task files in time.';
      return { status: 'failed', error: plainChildError(new Unavailable(message)) };
    }
    if (this.#killedByUs && !this.#loadedTooLate) return { status: 'died', ...exit, sentByUs: true };
    if (this.#stage === 'starting') return notStarted('The watchdog of a child process could not be armed.');
    // Not so for a child that dies while it loads the task files: it would do so again and again.
    if (this.#stage === 'ready' && this.#job?.started === false)
      return notStarted('The child process had ended before the job reached it.');
    return { status: 'died', ...exit, sentByUs: false };
  }
}

export function notStarted(message: string): ChildOutcome {
  return { status: 'not-started', error: plainChildError(new Unavailable(message)) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
