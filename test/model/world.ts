import type { MemoryLockTable } from '../../src/locks/memory/memory-lock-table.js';
import type { Guards } from './guards.js';
import type { Call, Timer } from './process.js';
import type { Node } from './automaton.js';
import type { Effect, SentCall, Told } from './local-process.js';
import type { Scenario } from './scenario.js';
import { ScriptFailed, Unavailable } from '../../src/errors.js';
import { createMemoryLockTable } from '../../src/locks/memory/memory-lock-table.js';
import { Automaton } from './automaton.js';
import { copyOfRows, copyOfTable } from './copies.js';
import { textOf } from './digest.js';
import { Ghosts } from './ghosts.js';
import { LocalProcess } from './local-process.js';
import { ModelProcess } from './process.js';
import { addWorker, emptyRows, type Rows } from './rows.js';
import { rowsText } from './rows-text.js';
import { LockCalls } from './lock-calls.js';
import { StoreCalls } from './store-calls.js';
import { tableText } from './table-text.js';
import { TransactionCalls } from './transaction-calls.js';
import { isInvisible } from './reduction.js';
import { mustWait } from './waiting.js';

const readOnly = new Set([
  ...['readNamespace', 'readEpoch', 'servingWorkers', 'admissionNeeded', 'lanesToAdmit', 'tasksToAdmit'],
  ...['markedTakeOuts', 'getTask', 'runningOf', 'rollbacksAmong', 'workersNamed', 'workersAmong'],
  ...['longestTtlMs', 'readRegistry', 'findOwners', 'inspectHold', 'runningLike', 'lowestFormat'],
  ...['counterOf', 'hasCrashed'],
]);

/** What all states of a search have in common: the processes, as far as they were learned. */
export type Automata = Map<string, Automaton>;

/** Both stores, all processes, and what has happened: one state of the exploration. */
export class World {
  readonly scenario: Scenario;
  readonly guards: Guards;
  readonly rows: Rows;
  readonly table: MemoryLockTable;
  readonly calls: StoreCalls;
  readonly transactions: TransactionCalls;
  readonly locks: LockCalls;
  readonly processes: ModelProcess[] = [];
  readonly ghosts: Ghosts;
  /** How many of each fault may still happen. */
  readonly faultsLeft: Map<string, number>;
  orphans: Call[] = [];
  /** Until then every process finds the first epoch. */
  hasBegun = false;
  /** In the end a process that is idle grows older, so that what it keeps for a while is read again. */
  timePasses = false;
  /** How many workers were asked to stop. */
  stops = 0;
  /** Raised with every change of either store. */
  version = 0;
  readonly #automata: Automata;
  /** By transaction, the name of the process that opened it. */
  readonly #sessions: Map<number, string>;
  readonly #texts = { store: '', table: '' };
  /** What is answered at once, in the order in which it was sent. */
  #atOnce: Call[] = [];

  constructor(scenario: Scenario, guards: Guards, automata: Automata, before?: World) {
    this.scenario = scenario;
    this.guards = guards;
    this.#automata = automata;
    this.#sessions = new Map(before === undefined ? [] : before.#sessions);
    this.faultsLeft = new Map(before?.faultsLeft ?? Object.entries(scenario.faults ?? {}));
    this.table = createMemoryLockTable({ namespace: 'model', now: () => 0, promotionLimit: 2 });
    if (before === undefined) this.table.state.identity = 'server-1';
    else Object.assign(this.table.state, copyOfTable(before.table.state));
    this.rows = before === undefined ? emptyRows() : copyOfRows(before.rows);
    this.calls = new StoreCalls(this.rows, guards);
    this.transactions = new TransactionCalls(this.calls, guards);
    this.locks = new LockCalls(this.rows, guards);
    this.ghosts = new Ghosts(this, before?.ghosts);
    if (before !== undefined) Object.assign(this.#texts, before.#texts);
  }

  /** The same state, so that what happens to the copy happens to nothing else. */
  copy(): World {
    const copy = new World(this.scenario, this.guards, this.#automata, this);
    copy.processes.push(...this.processes.map((process) => process.copy()));
    copy.orphans = this.orphans.map((call) => ({ ...call, process: copy.#named(call.process.name) }));
    copy.hasBegun = this.hasBegun;
    copy.timePasses = this.timePasses;
    copy.stops = this.stops;
    copy.version = this.version;
    return copy;
  }

  /** Begins with the first epoch. */
  async begin(): Promise<void> {
    await this.table.beginEpoch('1', 1);
    await this.table.openEpoch('1');
    Object.assign(this.rows, { epoch: '1', identity: 'server-1', lastEpoch: 1 });
  }

  /** A process that runs this program from the beginning. */
  async addProcess(
    { name, kind, incarnation = '' }: Pick<ModelProcess, 'name' | 'kind'> & { incarnation?: string },
    program: (process: LocalProcess) => unknown,
  ): Promise<void> {
    const create = (): LocalProcess => new LocalProcess(name, incarnation);
    const automaton = this.#automata.get(name) ?? new Automaton(create, program);
    this.#automata.set(name, automaton);
    const node = await automaton.root();
    const process = new ModelProcess({ name, kind, incarnation, automaton, node });
    this.processes.push(process);
    this.#comeTo(process, node);
    await this.#answerAll();
  }

  /** Resolves with its incarnation. */
  async register(name: string, serves: string): Promise<string> {
    const incarnation = addWorker(this.rows, name, serves);
    await this.table.listOwner('1', { name, incarnation });
    return incarnation;
  }

  async registerApi(name: string): Promise<string> {
    const incarnation = addWorker(this.rows, name, null);
    await this.table.listOwner('1', { name, incarnation });
    return incarnation;
  }

  mustWait(call: Call): boolean {
    return call.to === 'store' && mustWait(this.rows, this.guards, call);
  }

  async execute(call: Call): Promise<void> {
    const { op } = call;
    if (readOnly.has(op)) await this.#run(call);
    else await this.ghosts.watch(call, () => this.#run(call));
    this.orphans = this.orphans.filter((orphan) => orphan !== call);
    const opened = openedBy(call);
    if (opened !== null) this.#sessions.set(opened, call.process.name);
    // Nobody hears of it: the server ends the session when it has been idle for too long.
    if (opened !== null && call.orphaned) this.abandon(opened);
  }

  async deliver(call: Call): Promise<void> {
    const { process, answer } = call;
    if (answer === null) return;
    process.faulted = 'error' in answer && isFault(answer.error);
    await this.tell(process, `${nameOf(call)}:${textOf(answer)}`, { what: 'answer', call: call.id, answer });
  }

  /** Has a process go on with something it was told, until it waits for the next thing. */
  async tell(process: ModelProcess, what: string, told: Told): Promise<void> {
    process.told(what);
    process.deliveries += 1;
    await this.#go(process, told);
    process.faulted = false;
  }

  async ring(timer: Timer): Promise<void> {
    const { process } = timer;
    process.told(`ring ${timer.ms}`);
    await this.#go(process, { what: 'ring', timer: timer.id });
  }

  /** The caller is told that there was no answer; the call may be executed at any later time, or never. */
  async loseReply(call: Call): Promise<void> {
    const { process } = call;
    if (call.answer === null) this.#orphan({ ...call });
    this.abandon(openedBy(call));
    process.faulted = true;
    const answer = { error: new Unavailable('No answer came.') };
    await this.tell(process, `lost ${nameOf(call)}`, { what: 'answer', call: call.id, answer });
  }

  /** It does not go on; what it has sent may be executed all the same. */
  crash(process: ModelProcess, status: ModelProcess['status'] = 'crashed'): void {
    process.status = status;
    for (const call of process.calls) if (call.answer === null && call.to !== 'wait') this.#orphan(call);
    Object.assign(process, { calls: [], timers: [], handlers: [] });
    this.ghosts.processEnded(process);
  }

  abandonAllOf(process: ModelProcess): void {
    for (const [transaction, owner] of this.#sessions) if (owner === process.name) this.abandon(transaction);
  }

  abandon(transaction: number | null): void {
    for (const open of this.transactions.openTransactions()) {
      if (open.id === transaction) open.abandoned = true;
    }
  }

  noteContent(of: Call['to']): void {
    if (of !== 'table' && of !== 'store') return;
    const text = of === 'table' ? tableText(this.table.state) : rowsText(this.rows);
    if (text === this.#texts[of]) return;
    this.#texts[of] = text;
    this.version += 1;
  }

  /** Both stores as a text. */
  get content(): string {
    return `${this.#texts.store}\n${this.#texts.table}`;
  }

  async #go(process: ModelProcess, told: Told): Promise<void> {
    this.#comeTo(process, await process.automaton.next(process.node, process.status, told));
    await this.#answerAll();
  }

  async #answerAll(): Promise<void> {
    while (this.#atOnce.length > 0) {
      const call = this.#atOnce.shift() as Call;
      if (call.process.calls.includes(call) && isInvisible(this, call)) await this.#answerAtOnce(call);
    }
  }

  /** Takes over what a process has come to. */
  #comeTo(process: ModelProcess, node: Node): void {
    const known = new Map(process.calls.map((call) => [call.id, call]));
    const timers = new Map(process.timers.map((timer) => [timer.id, timer]));
    process.node = node;
    process.status = node.status;
    process.handlers = node.handlers;
    process.calls = node.calls.map((sent) => known.get(sent.id) ?? this.#sent(process, sent));
    const { deliveries: setAfter, faulted: afterFault } = process;
    process.timers = node.timers.map(
      (timer) => timers.get(timer.id) ?? { ...timer, process, setIn: this.version, setAfter, afterFault },
    );
    for (const effect of node.effects) this.#suffer(process, effect);
    if (process.isIdle && !this.timePasses && this.scenario.losesLane !== true) this.#rest(process);
  }

  #sent(process: ModelProcess, sent: SentCall): Call {
    const call: Call = { ...sent, process, orphaned: false, answer: null };
    this.ghosts.asks(process, sent.op);
    if (isInvisible(this, call)) this.#atOnce.push(call);
    return call;
  }

  #suffer(process: ModelProcess, effect: Effect): void {
    switch (effect.what) {
      case 'begins':
        return this.ghosts.handlerBegins(process, effect.handler);
      case 'ends':
        return this.ghosts.handlerEnds(process, effect.handler);
      case 'abandons':
        return this.abandon(effect.transaction);
      case 'fails':
        return void process.begunIn.set(effect.program, -1);
      case 'stops':
      default:
        return this.crash(process, 'stopped');
    }
  }

  #rest(process: ModelProcess): void {
    const node = process.automaton.idleLike(process.node);
    process.history = `idle in ${node.epoch}`;
    process.node = node;
    process.calls.forEach((call, at) => Object.assign(call, { id: node.calls[at]?.id }));
    process.timers.forEach((timer, at) => Object.assign(timer, { id: node.timers[at]?.id }));
  }

  async #answerAtOnce(call: Call): Promise<void> {
    const { process } = call;
    await this.execute(call);
    const { answer } = call;
    if (answer === null) return;
    if ('value' in answer) process.told(`${nameOf(call)}:${textOf(answer.value)}`);
    const told = { what: 'answer', call: call.id, answer } as const;
    this.#comeTo(process, await process.automaton.next(process.node, process.status, told));
  }

  #orphan(call: Call): void {
    call.orphaned = true;
    this.orphans.push(call);
  }

  async #run(call: Call): Promise<void> {
    const { to, op, args } = call;
    try {
      call.answer = { value: await this.#work(to, op)(...args) };
    } catch (error) {
      call.answer = { error };
    }
    if (!readOnly.has(op)) this.noteContent(to);
  }

  #work(to: Call['to'], op: string): (...args: unknown[]) => unknown {
    const ofStore = [this.calls, this.locks].find((some) => op in some) ?? this.transactions;
    const target = to === 'table' ? this.table : to === 'world' ? this.#facts : ofStore;
    const work = (target as unknown as Record<string, (...args: unknown[]) => unknown>)[op];
    if (work === undefined) throw new Error(`The model has no ${op}.`);
    return work.bind(target);
  }

  /** What a process finds out without asking a store. */
  readonly #facts = {
    counterOf: (incarnation: string) => String(this.rows.workers.get(incarnation)?.counter ?? 0),
    hasCrashed: (name: string) => this.#named(name).status === 'crashed',
  };

  #named(name: string): ModelProcess {
    return this.processes.find((one) => one.name === name) as ModelProcess;
  }
}

/** Which of the calls that its process waits for. */
function nameOf({ process, op, id }: Call): string {
  return `${op}${process.calls.filter((call) => call.op === op).findIndex((call) => call.id === id)}`;
}

/** The transaction that a call opened. */
function openedBy({ answer }: Pick<Call, 'answer'>): number | null {
  const { value } = (answer ?? {}) as { value?: { transaction?: number } | null };
  return value?.transaction ?? null;
}

function isFault(error: unknown): boolean {
  return error instanceof Unavailable || error instanceof ScriptFailed;
}
