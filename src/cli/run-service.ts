import type { Logger } from '../log.js';
import type { Backend } from '../holdfast/backend.js';
import type { SupervisionOptions } from '../service/supervision.js';
import type { GlobalOptions } from './global-options.js';
import { resolveConfiguration } from '../configuration.js';
import { InvalidTask, Unavailable } from '../errors.js';
import { endsUnlessStopped, endsWithin } from '../worker/ends-within.js';
import { afterGraceMs } from '../worker/stop-limits.js';
import { exitStatus } from './exit-status.js';
import { type Interrupted, watchForInterruption } from './interruption.js';
import { placeOptions } from './with-holdfast.js';
import { writeJson } from './write-output.js';

/** For closing, in milliseconds: a store that does not answer must not put off the end of the process. */
const closeLimitMs = 200;

type ServiceOptions = Pick<SupervisionOptions, 'names' | 'start' | 'stopLimitMs'>;

/** Runs the workers until SIGTERM or SIGINT; the next signal kills them, and ends this process as it does by default. */
export async function runService(global: GlobalOptions, options: ServiceOptions): Promise<void> {
  using first = watchForInterruption();
  const { backend, log } = await openStores(global, first.signal);
  let last: NodeJS.Signals | null = null;
  try {
    const { Supervision } = await import('../service/supervision.js');
    const supervision = new Supervision({
      ...options,
      recovery: { store: backend.store, log, ...(await backend.openTable()) },
      onClaiming: (workers) => void writeJson({ ready: true, workers }),
    });
    // A third signal finds nobody who listens, and ends the process.
    const kill = ({ signal }: Interrupted): void => {
      last = signal;
      log.warn({ signal }, 'kills its workers');
      supervision.kill();
    };
    const stop = (): void => {
      log.info({}, 'stops its workers, and waits for their tasks');
      supervision.stop();
      const { signal } = watchForInterruption();
      signal.addEventListener('abort', () => kill(signal.reason as Interrupted));
    };
    if (first.signal.aborted) return;
    first.signal.addEventListener('abort', stop);
    if (!(await supervision.run())) process.exitCode = exitStatus.badNews;
  } finally {
    // Its workers have ended, and so does this process.
    await endsWithin(backend.close(), closeLimitMs);
  }
  if (last !== null) process.kill(process.pid, last);
}

async function openStores(
  global: GlobalOptions,
  stop: AbortSignal,
): Promise<{ backend: Backend; log: Logger }> {
  const configuration = resolveConfiguration(placeOptions(global), process.env);
  if (configuration.kind !== 'redis') {
    const what = configuration.kind === 'embedded' ? 'Embedded data' : 'A lock table in memory';
    throw new InvalidTask(`${what} is one process's own: worker processes need PostgreSQL and Redis.`);
  }
  const { createLogger } = await import('./logger.js');
  const { openBackend } = await import('../holdfast/open-backend.js');
  const log = await createLogger(global.verbose === true ? 'debug' : 'info');
  const backend = await openBackend(configuration, log);
  const opening = backend.openTable();
  try {
    if (await endsUnlessStopped(opening, stop, afterGraceMs.written)) return { backend, log };
    throw new Unavailable('Told to stop before the stores could be reached.');
  } catch (error) {
    opening.catch(() => {});
    await endsWithin(backend.close(), closeLimitMs);
    throw error;
  }
}
