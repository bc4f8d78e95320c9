/** What is known of a run of the harness when it is over. Times are microseconds of the monotonic clock. */
export interface History {
  ttl: number;
  /** From the end of a TTL until whoever observes must have looked, and cleaned up. */
  observation: number;
  runs: Run[];
  processes: ProcessLife[];
  faults: Fault[];
  dispatches: Dispatch[];
  rows: Row[];
  recoveries: Recovery[];
  /** What was found when everything was over, as sentences. */
  leftovers: string[];
}

/** From when to when. */
export interface Span {
  from: number;
  to: number;
}

/** Code of a user that ran under a (task, entry), or under an ad-hoc lock, as it wrote down itself. */
export interface Run {
  task: string;
  entry: number;
  part: 'run' | 'rollback' | 'lock';
  fence: string;
  exclusive: string[];
  shared: string[];
  /** Of the process that the code ran in. */
  pid: number;
  /** Of the process that holds the resources: another one for a child. */
  owner: number;
  startAt: number;
  /** Each moment after the start at which it wrote something, in order. */
  evidence: number[];
  /** null: it never wrote that it returns. */
  endAt: number | null;
  outcome: 'ok' | 'error' | null;
}

export interface ProcessLife {
  name: string;
  kind: 'worker' | 'api';
  pid: number;
  incarnation: string | null;
  startedAt: number;
  /** When the harness sent SIGKILL, if it did. */
  killedAt: number | null;
  exitedAt: number | null;
  /** Its status or signal. */
  exit: string | null;
  frozen: Span[];
  /** It reached PostgreSQL by no means. */
  withoutPostgres: Span[];
}

export interface Fault extends Span {
  kind: string;
  /** Whom it hit; empty: everybody. */
  target: string;
}

export interface Dispatch {
  /** As the workload counts. */
  number: number;
  name: string;
  queue: string;
  exclusive: string[];
  shared: string[];
  /** null: the reply that tells it was lost. */
  id: string | null;
  /** At its dispatch; null: its order is not judged. */
  place: string | null;
  begunAt: number;
  /** When the commit was confirmed. */
  committedAt: number | null;
  /** `unknown`: the commit was sent, and its reply lost. */
  outcome: 'committed' | 'absent' | 'unknown';
}

export interface Row {
  id: string;
  name: string;
  state: string;
  entry: number;
  attempt: number;
  crashes: number;
  fence: string | null;
  place: string;
  /** `maxAttempts` of its policies, once they are known. */
  maxAttempts: number | null;
  error: string | null;
}

/** How long it took until nothing was left of what a killed process had. */
export interface Recovery {
  process: string;
  incarnation: string;
  killedAt: number;
  /** Tasks and locks that it had. */
  held: number;
  /** null: something was left when the run was over. */
  freeAt: number | null;
}

export interface Violation {
  property: string;
  text: string;
  at: number | null;
  /** Whose story tells more. */
  resource?: string | undefined;
  tasks: string[];
}
