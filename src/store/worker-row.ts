/** `requester`: the incarnation itself, where it asks for ad-hoc locks. */
export interface ServedByWorker extends Pick<NewWorker, 'queues' | 'names' | 'versions'> {
  requester: string | null;
}

export interface NewWorker {
  name: string;
  kind: 'worker' | 'api';
  host: string;
  pid: number;
  /** Boot id, pid namespace and start time of the process, as far as the platform tells. */
  identity: Record<string, string>;
  ttlMs: number;
  concurrency: number;
  queues: string[];
  names: string[];
  versions: Record<string, string>;
  /** The newest protocol of the lock table that it can keep. */
  tableFormat: number;
}

export interface WorkerRow extends Omit<NewWorker, 'identity' | 'tableFormat'> {
  incarnation: string;
  identity: Record<string, string>;
  /** The heartbeat counter: it alone tells that a worker lives. */
  counter: string;
  reaped: boolean;
  startedAt: string;
  lastHeartbeat: string;
  /** Whether the last beat is younger than the TTL by the database's clock: for display, never a decision. */
  online: boolean;
  running: string[];
}
