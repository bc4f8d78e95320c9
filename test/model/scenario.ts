import type { Policies } from '../../src/store/store.js';

export interface ScenarioTask {
  /** Of its definition. Default: the one that all serve who name none. */
  name?: string;
  /** Whether it is admitted when the run begins, by somebody who is gone. */
  admitted?: boolean;
  exclusive?: string[];
  shared?: string[];
  policies?: Partial<Policies>;
}

/** A process that is no worker. */
export interface ScenarioApi {
  does: 'waits for a lock' | 'takes a lock at once' | 'runs a task at once';
  /** Default: `a`. */
  exclusive?: string[];
  shared?: string[];
  policies?: Partial<Policies>;
}

/** Faults, each with how often it may happen in one run. */
export interface FaultCounts {
  /** A process ends; what it has sent may still be executed. */
  crash?: number;
  /** A process stands still beyond its deadline, and may wake later. */
  freeze?: number;
  /** A call gets no answer: it is executed at once, at any later time, or never. */
  'lost reply'?: number;
  /** The table loses all it has. */
  'lost table'?: number;
  /** The table forgets one hold, as after a failover to a replica that lagged. */
  'lost hold'?: number;
  /** The session of a transaction is ended by the server. */
  'killed session'?: number;
  /** A call of the table dies at any of its writes. */
  cut?: number;
  /** A handler throws. */
  throw?: number;
}

export interface Scenario {
  name: string;
  about: string;
  tasks: ScenarioTask[];
  /** Each with its slots. */
  workers: { slots: number; name?: string; serves?: string }[];
  apis?: ScenarioApi[];
  admitters?: number;
  sweepers?: number;
  /** Whether w1 comes back under its name, where it is provably dead. */
  heir?: boolean;
  /** What somebody outside does, at any time. */
  clients?: ('cancel t1' | 'cancel t2' | 'pause' | 'resume' | 'pause and resume')[];
  /** Beats of each worker, at any time; in the end as many as are needed. */
  beats?: number;
  /** Workers that may be asked to stop. */
  stops?: number;
  faults?: FaultCounts;
  /** Only processes whose names begin so fail. Default: workers. */
  failing?: string[];
  /** Retries and new places make the order of dispatch a matter of opinion. */
  unordered?: boolean;
  /** Paused for good, its tasks wait in the end, without holds. */
  staysPaused?: boolean;
  /** Whether a lane may lose its last worker: what waits in it makes room soon, and waits in the end. */
  losesLane?: boolean;
  /** How a walk begins: labels of choices, in order, by their beginnings. What is named later is held back until then. */
  script?: string[];
  /** In which set it runs: `quick` with the tests, `medium` in CI, `long` for the document; `walked` with its mutants only. */
  set: 'quick' | 'medium' | 'long' | 'walked';
}
