import { randomUUID } from 'node:crypto';
import { Unavailable } from '../../errors.js';
import { checkNamespace } from '../../namespace.js';
import { ownerText, type Owner } from '../../owner.js';
import { checkHold, checkMove } from '../check-hold.js';
import { countResources } from '../chunks.js';
import { holdsOfTexts, holdText, type HoldName } from '../hold-text.js';
import type * as port from '../lock-table.js';
import type * as audit from '../table-audit.js';
import type { TableDump } from '../table-dump.js';
import { inCalls } from './batches.js';
import { buildingCall, openCall, type Call } from './call.js';
import { claimInCalls } from './claim.js';
import { dumpState } from './dump-state.js';
import { enterNow } from './enter-now.js';
import { enter } from './enter.js';
import { beginEpoch, enterBuilding, openEpoch, readEpoch } from './epochs.js';
import { examineHolds } from './examine-holds.js';
import { findFaults, mendFaults } from './faults.js';
import { findAllNames, findLanes } from './find-names.js';
import { findOwners, readRegistry } from './find-owners.js';
import { inspectHold, inspectLock } from './inspect.js';
import { move } from './move.js';
import { listOwner, registerHold, unlistOwner } from './owner-writes.js';
import { workOffMarks } from './promote.js';
import { release } from './release.js';
import { TaskListeners } from './task-listeners.js';
import { createState, type TableState } from './table-state.js';
import { takeOut } from './take-out.js';
import { unlinkEpochsBefore } from './unlink-epochs.js';
import { WaitingProcesses } from './waiting-processes.js';
import { pushAdmissionWakeUp } from './wake-ups.js';

export interface MemoryLockTableOptions {
  namespace: string;
  /** How many waiters one call promotes at most. Default 250. */
  promotionLimit?: number;
  /** Milliseconds since 1970, for the times that holds show. Default: the system clock. */
  now?: () => number;
}

export interface MemoryLockTable extends port.LockTable {
  /** All that it knows. The operations of this folder work on it directly. */
  readonly state: TableState;
  /** For tests: null where that epoch is not the one in the record. */
  dumpState(epoch: string): TableDump | null;
}

const defaultPromotionLimit = 250;
const noWeight = (): number => 0;
const noPass = '0';

/** A lock table in this process. It dies with the process, so every start needs a new epoch. */
export function createMemoryLockTable(options: MemoryLockTableOptions): MemoryLockTable {
  checkNamespace(options.namespace);
  return new InMemory(options);
}

/** Each method does all of its work at once, before it returns its promise. */
class InMemory implements MemoryLockTable {
  readonly kind = 'memory';
  readonly address = 'memory:';
  readonly state: TableState;
  readonly #now: () => number;
  readonly #waiting: WaitingProcesses;
  readonly #settled = new TaskListeners();
  readonly #canceling = new TaskListeners();
  readonly #turns = new Map<string, number>();
  #stopped = false;

  constructor({ promotionLimit = defaultPromotionLimit, now = Date.now }: MemoryLockTableOptions) {
    this.state = createState({ identity: randomUUID(), promotionLimit });
    this.#now = now;
    this.#waiting = new WaitingProcesses(this.state);
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.end();
    this.#settled.end();
    this.#canceling.end();
  }

  async readEpoch(): Promise<port.EpochRecord | null> {
    return this.#do((state) => readEpoch(state));
  }

  async beginEpoch(epoch: string, format: number): Promise<'begun' | 'not-newer'> {
    return this.#do((state) => beginEpoch(state, epoch, format));
  }

  async enterBuilding(epoch: string, holds: port.BuildingHold[]): Promise<port.BuildingAnswer[]> {
    const newCall = (): Call => buildingCall(this.state, epoch, this.#now());
    return this.#do(() => inCalls(holds.map(checkHold), countResources, newCall, enterBuilding));
  }

  async openEpoch(epoch: string): Promise<'opened' | 'not-building'> {
    return this.#do((state) => openEpoch(state, epoch));
  }

  async unlinkEpochsBefore(epoch: string): Promise<number> {
    return this.#do((state) => unlinkEpochsBefore(state, epoch));
  }

  async enter(
    epoch: string,
    pass: string,
    holds: port.EnteringHold[],
  ): Promise<port.EnterAnswer[] | 'older-pass'> {
    return this.#batch(epoch, holds.map(checkHold), countResources, (call, some) => enter(call, pass, some));
  }

  async enterNow(
    epoch: string,
    owner: Owner,
    holds: port.EnteringHold[],
  ): Promise<port.EnterNowAnswer[] | 'unlisted'> {
    const text = ownerText(owner);
    return this.#batch(epoch, holds.map(checkHold), countResources, (call, some) =>
      enterNow(call, text, some),
    );
  }

  async claim(epoch: string, request: port.ClaimRequest): Promise<port.ClaimAnswer | 'unlisted'> {
    return this.#do(() => claimInCalls(request, () => this.#call(epoch)));
  }

  async move(epoch: string, moves: port.Move[]): Promise<port.MoveAnswer[]> {
    moves.forEach(checkMove);
    return this.#batch(epoch, moves, noWeight, move);
  }

  async release(epoch: string, holds: port.OwnedHold[]): Promise<port.ReleaseAnswer[]> {
    return this.#batch(epoch, holds, noWeight, release);
  }

  async takeOut(
    epoch: string,
    holds: { task: string; entry: number }[],
    pass = noPass,
  ): Promise<port.TakeOutAnswer[]> {
    return this.#batch(epoch, holds, noWeight, (call, some) => takeOut(call, pass, some));
  }

  async continuePromotions(epoch: string): Promise<number> {
    return this.#inCall(epoch, (call) => {
      workOffMarks(call);
      return call.space.marks.size;
    });
  }

  async listOwner(epoch: string, owner: Owner): Promise<void> {
    this.#inCall(epoch, (call) => listOwner(call, ownerText(owner)));
  }

  async unlistOwner(epoch: string, owner: Owner): Promise<'unlisted' | 'still-holds'> {
    return this.#inCall(epoch, (call) => unlistOwner(call, ownerText(owner)));
  }

  async findOwners(epoch: string, find: port.FindOwners): Promise<Owner[]> {
    return this.#inCall(epoch, ({ space }) => findOwners(space, find));
  }

  async readRegistry(epoch: string, owner: Owner, page: port.Page): Promise<port.RegistryEntry[]> {
    return this.#inCall(epoch, ({ space }) => readRegistry(space, owner, page));
  }

  async inspectLocks(epoch: string, resources: string[], waitersEach: number): Promise<port.LockView[]> {
    return this.#batch(epoch, resources, noWeight, ({ space }, some) =>
      some.map((resource) => inspectLock(space, resource, waitersEach)),
    );
  }

  async inspectHold(epoch: string, task: string): Promise<port.HoldView | null> {
    return this.#inCall(epoch, ({ space }) => inspectHold(space, task));
  }

  async findNames(
    epoch: string,
    { of }: { of: 'lanes' | 'all'; cursor: string | null },
  ): Promise<audit.NamePage> {
    const space = this.#do((state) => state.keyspaces.get(epoch));
    if (space === undefined) return { names: [], next: null };
    return { names: of === 'lanes' ? findLanes(space) : findAllNames(space), next: null };
  }

  async examineHolds(epoch: string, tasks: string[]): Promise<audit.ExaminedHold[]> {
    return this.#batch(epoch, tasks, noWeight, examineHolds);
  }

  async findFaults(epoch: string, of: audit.FaultPlace): Promise<audit.FaultPage> {
    return this.#inCall(epoch, ({ space }) => ({ faults: findFaults(space, of), next: null }));
  }

  async mendFaults(epoch: string, faults: audit.TableFault[]): Promise<audit.MendAnswer[]> {
    return this.#batch(epoch, faults, noWeight, mendFaults);
  }

  async registerHolds(epoch: string, holds: port.OwnedHold[]): Promise<audit.RegisterAnswer[]> {
    return this.#batch(epoch, holds, noWeight, (call, some) => some.map((one) => registerHold(call, one)));
  }

  async takeTurn(turn: string, _taker: string, forMs: number): Promise<boolean> {
    return this.#do(() => {
      const now = performance.now();
      if ((this.#turns.get(turn) ?? 0) > now) return false;
      this.#turns.set(turn, now + forMs);
      return true;
    });
  }

  async wakeAdmission(): Promise<void> {
    pushAdmissionWakeUp(this.state);
    this.#waiting.serve();
  }

  async waitForWake(
    epoch: string,
    lanes: string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<port.Wake> {
    return this.#stopped ? 'timeout' : this.#waiting.wait(epoch, lanes, timeoutMs, signal);
  }

  async announceSettled(tasks: string[]): Promise<void> {
    this.#settled.announce(tasks);
  }

  onSettled(listener: (tasks: string[]) => void): () => void {
    return this.#settled.add(listener);
  }

  async announceCanceling(holds: HoldName[]): Promise<void> {
    this.#canceling.announce(holds.map(holdText));
  }

  onCanceling(listener: (holds: HoldName[]) => void): () => void {
    return this.#canceling.add((texts) => listener(holdsOfTexts(texts)));
  }

  dumpState(epoch: string): TableDump | null {
    return dumpState(this.state, epoch);
  }

  #do<A>(work: (state: TableState) => A): A {
    if (this.#stopped) throw new Unavailable('The in-memory lock table was stopped.');
    try {
      return work(this.state);
    } finally {
      this.#waiting.serve();
    }
  }

  #call(epoch: string): Call {
    return openCall(this.state, epoch, this.#now());
  }

  #inCall<A>(epoch: string, work: (call: Call) => A): A {
    return this.#do(() => work(this.#call(epoch)));
  }

  #batch<T, R extends unknown[] | string>(
    epoch: string,
    items: readonly T[],
    weightOf: (item: T) => number,
    run: (call: Call, chunk: T[]) => R,
  ): R {
    return this.#do(() => inCalls(items, weightOf, () => this.#call(epoch), run));
  }
}
