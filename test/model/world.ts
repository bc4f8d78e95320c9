import type { MemoryLockTable } from '../../src/locks/memory/memory-lock-table.js';
import type { Guards } from './guards.js';
import type { Call, ModelProcess, Timer } from './process.js';
import type { TimeHost } from './virtual-time.js';
import type { Scenario } from './scenario.js';
import { ScriptFailed, Unavailable } from '../../src/errors.js';
import { createMemoryLockTable } from '../../src/locks/memory/memory-lock-table.js';
import { textOf } from './digest.js';
import { Ghosts } from './ghosts.js';

import { addWorker, emptyRows, type Rows } from './rows.js';
import { rowsText } from './rows-text.js';
import { StoreCalls } from './store-calls.js';
import { tableText } from './table-text.js';
import { TransactionCalls } from './transaction-calls.js';
import { drained } from './virtual-time.js';
import { isInvisible } from './reduction.js';
import { mustWait } from './waiting.js';

const readOnly = new Set([
  ...['readNamespace', 'readEpoch', 'servingWorkers', 'admissionNeeded', 'lanesToAdmit', 'tasksToAdmit'],
  ...['markedTakeOuts', 'getTask', 'runningOf', 'rollbacksAmong', 'workersNamed', 'workersAmong'],
  ...['longestTtlMs', 'readRegistry', 'findOwners', 'inspectHold', 'runningLike', 'lowestFormat'],
]);

function resolve(): void {}

/** Both stores, all processes, and what has happened: one state of the exploration. */
export class World implements TimeHost {
  readonly scenario: Scenario;
  readonly guards: Guards;
  readonly rows: Rows = emptyRows();
  readonly table: MemoryLockTable;
  readonly calls: StoreCalls;
  readonly transactions: TransactionCalls;
  readonly processes: ModelProcess[] = [];
  readonly ghosts: Ghosts;
  /** How many of each fault may still happen. */
  readonly faultsLeft: Map<string, number>;
  orphans: Call[] = [];
  /** Until then every process finds the first epoch. */
  hasBegun = false;
  /** Whether it goes where an earlier run has been. */
  replays = false;
  /** How many workers were asked to stop. */
  stops = 0;
  /** Raised with every change of either store. */
  version = 0;
  readonly #sessions = new Map<number, ModelProcess>();
  #current: ModelProcess | null = null;
  readonly #texts = { store: '', table: '', wait: '' };
  #ids = 0;

  constructor(scenario: Scenario, guards: Guards) {
    this.scenario = scenario;
    this.guards = guards;
    this.faultsLeft = new Map(Object.entries(scenario.faults ?? {}));
    this.table = createMemoryLockTable({ namespace: 'model', now: () => 0, promotionLimit: 2 });
    this.table.state.identity = 'server-1';
    this.calls = new StoreCalls(this.rows, guards);
    this.transactions = new TransactionCalls(this.calls, guards);
    this.ghosts = new Ghosts(this);
  }

  /** Begins with the first epoch. */
  async begin(): Promise<void> {
    await this.table.beginEpoch('1', 1);
    await this.table.openEpoch('1');
    Object.assign(this.rows, { epoch: '1', identity: 'server-1', lastEpoch: 1 });
  }

  async addProcess(process: ModelProcess, program: () => unknown): Promise<void> {
    this.processes.push(process);
    await this.#let(process, program);
  }

  async register(process: ModelProcess): Promise<void> {
    process.incarnation = addWorker(this.rows, process.name);
    await this.table.listOwner('1', process);
  }

  /** Sends a call: whether, and when, it is executed and answered is the explorer's choice. */
  send(process: ModelProcess, to: Call['to'], op: string, args: unknown[]): Promise<unknown> {
    const id = ++this.#ids;
    const call: Call = { id, process, to, op, args, orphaned: false, answer: null, resolve, reject: resolve };
    if (isInvisible(this, call)) return this.#answerAtOnce(call);
    return new Promise((answered, failed) => {
      process.calls.push(Object.assign(call, { resolve: answered, reject: failed }));
    });
  }

  async #answerAtOnce(call: Call): Promise<unknown> {
    const value = await this.#run(call);
    const opened = openedBy({ ...call, answer: { value } });
    if (opened !== null) this.#sessions.set(opened, call.process);
    if (!readOnly.has(call.op)) this.noteContent(call.to);
    call.process.told(`${call.op}:${textOf(value)}`);
    return value;
  }

  mustWait(call: Call): boolean {
    return call.to === 'store' && mustWait(this.rows, this.guards, call);
  }

  async execute(call: Call): Promise<void> {
    try {
      call.answer = { value: await this.#run(call) };
    } catch (error) {
      call.answer = { error };
    }
    this.orphans = this.orphans.filter((orphan) => orphan !== call);
    const opened = openedBy(call);
    if (opened !== null) this.#sessions.set(opened, call.process);
    // Nobody hears of it: the server ends the session when it has been idle for too long.
    if (opened !== null && call.orphaned) this.abandon(opened);
    if (readOnly.has(call.op)) return;
    this.noteContent(call.to);
    this.ghosts.executed(call);
  }

  async deliver(call: Call): Promise<void> {
    const { process, answer } = call;
    process.calls = process.calls.filter((one) => one !== call);
    if (answer === null) return;
    await this.tell(process, `${call.op}:${textOf(answer)}`, () => {
      if ('error' in answer) {
        process.faulted = isFault(answer.error);
        call.reject(answer.error);
      } else call.resolve(answer.value);
    });
  }

  /** Has a process go on with something it was told, until it waits for the next thing. */
  async tell(process: ModelProcess, what: string, happen: () => void): Promise<void> {
    process.told(what);
    process.deliveries += 1;
    await this.#let(process, happen);
    process.faulted = false;
  }

  async ring(timer: Timer): Promise<void> {
    const { process } = timer;
    process.timers = process.timers.filter((one) => one !== timer);
    process.now = Math.max(process.now, timer.at);
    process.told(`ring ${timer.ms}`);
    await this.#let(process, timer.run);
  }

  /** The caller is told that there was no answer; the call may be executed at any later time, or never. */
  async loseReply(call: Call): Promise<void> {
    const { process } = call;
    process.calls = process.calls.filter((one) => one !== call);
    if (call.answer === null) this.#orphan(call);
    this.abandon(openedBy(call));
    await this.tell(process, `lost ${call.op}`, () => {
      process.faulted = true;
      call.reject(new Unavailable('No answer came.'));
    });
  }

  /** It does not go on; what it has sent may be executed all the same. */
  crash(process: ModelProcess, status: ModelProcess['status'] = 'crashed'): void {
    process.status = status;
    for (const call of process.calls) if (call.answer === null && call.to !== 'wait') this.#orphan(call);
    Object.assign(process, { calls: [], timers: [], handlers: [] });
    this.ghosts.processEnded(process);
  }

  abandonAllOf(process: ModelProcess): void {
    for (const [transaction, owner] of this.#sessions) if (owner === process) this.abandon(transaction);
  }

  abandon(transaction: number | null): void {
    for (const open of this.transactions.openTransactions()) {
      if (open.id === transaction) open.abandoned = true;
    }
  }

  endWaits(process: ModelProcess): void {
    for (const call of process.calls) if (call.to === 'wait') call.resolve('timeout');
    process.calls = process.calls.filter((call) => call.to !== 'wait');
  }

  noteContent(of: Call['to']): void {
    const text = of === 'table' ? tableText(this.table.state) : rowsText(this.rows);
    if (text === this.#texts[of]) return;
    this.#texts[of] = text;
    this.version += 1;
  }

  /** Both stores as a text. */
  get content(): string {
    return `${this.#texts.store}\n${this.#texts.table}`;
  }

  // The clocks and timers of the process that goes on

  now(): number {
    return this.#current?.now ?? 0;
  }

  setTimer(run: () => void, ms: number): number {
    const process = this.#current;
    if (process === null) return 0;
    const id = ++this.#ids;
    const { deliveries, faulted } = process;
    process.timers.push({
      ...{ id, process, ms, run, at: process.now + ms, setIn: this.version },
      ...{ setAfter: deliveries, afterFault: faulted },
    });
    return id;
  }

  clearTimer(timer: number): void {
    for (const process of this.processes) {
      if (process.timers.some(({ id }) => id === timer)) {
        process.timers = process.timers.filter(({ id }) => id !== timer);
      }
    }
  }

  async #let(process: ModelProcess, happen: () => unknown): Promise<void> {
    this.#current = process;
    void happen();
    await drained();
    this.#current = null;
    if (process.isIdle) process.history = `idle in ${process.epoch}`;
  }

  #orphan(call: Call): void {
    call.orphaned = true;
    this.orphans.push(call);
  }

  async #run({ to, op, args }: Call): Promise<unknown> {
    const target = to === 'table' ? this.table : op in this.calls ? this.calls : this.transactions;
    const work = (target as unknown as Record<string, (...args: unknown[]) => unknown>)[op];
    if (work === undefined) throw new Error(`The model has no ${op}.`);
    return work.apply(target, args);
  }
}

/** The transaction that a call opened. */
function openedBy({ answer }: Call): number | null {
  const { value } = (answer ?? {}) as { value?: { transaction?: number } | null };
  return value?.transaction ?? null;
}

function isFault(error: unknown): boolean {
  return error instanceof Unavailable || error instanceof ScriptFailed;
}
