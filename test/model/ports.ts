import type { LockTable } from '../../src/locks/lock-table.js';
import type { Admission, Rebuild, Store } from '../../src/store/store.js';
import type { LocalProcess } from './local-process.js';

type Ask = (op: string, ...args: unknown[]) => Promise<unknown>;

/** The store as one process sees it: every call stops at the scheduler. */
export function storePort(process: LocalProcess): Store {
  const ask: Ask = (op, ...args) => process.send('store', op, args);
  const own = {
    namespace: 'model',
    writePolicies: async (): Promise<void> => {},
    writeProgress: async (): Promise<void> => {},
    admissionPass: <T>(pass: (admission: Admission) => Promise<T>) => admissionPass(process, ask, pass),
    rebuild: <T>(build: (rebuild: Rebuild) => Promise<T>) => rebuild(process, ask, build),
    pauseQueue: () => untilDone(ask, 'beginPause', 'taking-out'),
    resumeQueue: () => untilDone(ask, 'beginResume', 'resuming'),
  };
  return portOf(own, ask) as unknown as Store;
}

/** The table as one process sees it. Its hints need no decision: wherever they would lead to something, that is allowed. */
export function tablePort(process: LocalProcess): LockTable {
  const ask: Ask = (op, ...args) => process.send('table', op, args);
  const nothing = async (): Promise<void> => {};
  const own = {
    ...{ kind: 'memory', address: 'memory:', start: nothing, stop: nothing },
    ...{ wakeAdmission: nothing, announceSettled: nothing, announceCanceling: nothing },
    unlinkEpochsBefore: async () => 0,
    onSettled: () => () => {},
    onCanceling: () => () => {},
    waitForWake: (epoch: string, lanes: string[], _timeoutMs: number, signal: AbortSignal) => {
      if (signal.aborted) return Promise.resolve('timeout');
      const waiting = process.send('wait', 'waitForWake', [epoch, lanes]);
      signal.addEventListener('abort', () => process.endWaits());
      return waiting;
    },
  };
  return portOf(own, ask) as unknown as LockTable;
}

function portOf(own: object, ask: Ask): object {
  return new Proxy(own, {
    get: (target, op) =>
      op in target
        ? (target as Record<string | symbol, unknown>)[op]
        : (...args: unknown[]) => (asksForNothing(args) ? Promise.resolve([]) : ask(String(op), ...args)),
  });
}

/** As in the queries: without ids nobody is asked. */
function asksForNothing(args: unknown[]): boolean {
  const lists = args.filter((arg) => Array.isArray(arg));
  return lists.length > 0 && lists.every((list) => list.length === 0);
}

async function untilDone(ask: Ask, begin: string, phase: string): Promise<void> {
  await ask(begin);
  while ((await ask('continuePause')) === phase);
}

/** As in src/store/admission-pass.ts: one transaction, which is rolled back where anything throws. */
async function admissionPass<T>(
  process: LocalProcess,
  ask: Ask,
  pass: (admission: Admission) => Promise<T>,
): Promise<T | 'busy-elsewhere'> {
  type Opened = { transaction: number; pass: string; epoch: string | null } | null;
  const opened = (await ask('openPass')) as Opened;
  if (opened === null) return 'busy-elsewhere';
  const { transaction } = opened;
  const admission = portOf(
    { pass: opened.pass, epoch: opened.epoch, makeDue: async () => 0 },
    (op, ...args) => ask(op, transaction, ...args),
  ) as unknown as Admission;
  return inTransaction(process, ask, transaction, () => pass(admission));
}

async function rebuild<T>(
  process: LocalProcess,
  ask: Ask,
  build: (rebuild: Rebuild) => Promise<T>,
): Promise<T> {
  type Locked = { transaction: number; epoch: string | null; identity: string | null };
  const { transaction, epoch, identity } = (await ask('lockForRebuild')) as Locked;
  const namespace = { epoch, identity, tableKind: null, tableAddress: null };
  const within = portOf({ namespace, lowestFormat: async () => null }, (op, ...args) =>
    ask(op, transaction, ...args),
  ) as unknown as Rebuild;
  return inTransaction(process, ask, transaction, () => build(within));
}

async function inTransaction<T>(
  process: LocalProcess,
  ask: Ask,
  transaction: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    await ask('commit', transaction);
    return result;
  } catch (error) {
    process.effects.push({ what: 'abandons', transaction });
    throw error;
  }
}
