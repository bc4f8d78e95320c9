import type { CalledHandler } from './local-process.js';
import type { Call, ModelProcess } from './process.js';
import type { World } from './world.js';
import { brokenInvariants } from '../../src/locks/invariants.js';
import { lateWriter, tasksBefore } from './late-writers.js';
import { heldOfPaused, reservedInVain } from './reservations.js';
import { isServed, isUnsettled, taskOf, type StoredTask } from './rows.js';

type Resources = Pick<StoredTask, 'exclusive' | 'shared'>;

interface Running extends CalledHandler {
  /** Of its process. */
  name: string;
}

const final = new Set(['completed', 'failed', 'canceled']);
const allowed: Record<string, string[]> = {
  waiting: ['running', 'canceled'],
  running: ['waiting', 'canceling', 'rolling_back', 'completed', 'failed'],
  canceling: ['canceled', 'rolling_back'],
  rolling_back: ['waiting', 'failed', 'canceled'],
};

/** What really happens, which nobody in the fleet knows as a whole, and what of it must never be. */
export class Ghosts {
  readonly #world: World;
  readonly #begun: Set<string>;
  readonly #states: Map<string, string>;
  #handlers: readonly Running[];
  /** Of each task that there ever was: what runs needs them also where its row is gone. */
  readonly #needs: Map<string, Resources>;
  /** What was found broken first. */
  violation: string | null = null;

  constructor(world: World, before?: Ghosts) {
    this.#world = world;
    this.#begun = new Set(before === undefined ? [] : before.#begun);
    this.#states = new Map(before === undefined ? [] : before.#states);
    this.#needs = before === undefined ? new Map() : before.#needs;
    this.#handlers = before === undefined ? [] : before.#handlers;
    this.violation = before === undefined ? null : before.violation;
  }

  /** A handler begins. G1: nobody runs that conflicts with it. G3: nobody waits who came before it. */
  handlerBegins({ name }: ModelProcess, handler: CalledHandler): void {
    const { task, entry } = handler;
    const key = `${task}.${entry}`;
    if (this.#begun.has(key)) this.#broken('once', `${task}, entry ${entry}, runs a second time`);
    this.#begun.add(key);
    for (const other of this.#handlers) {
      if (other.task === task || this.#conflict(task, other.task)) {
        this.#broken('never two', `${name} runs ${task} while ${other.name} runs ${other.task}`);
      }
    }
    this.#handlers = [...this.#handlers, { ...handler, name }];
    this.#checkHolds();
    if (handler.kind !== 'rollback') this.#checkOrder(task);
  }

  handlerEnds({ name }: ModelProcess, handler: number): void {
    this.#handlers = this.#handlers.filter((one) => one.name !== name || one.id !== handler);
  }

  /** Its children are killed with it. */
  processEnded({ name }: ModelProcess): void {
    this.#handlers = this.#handlers.filter((one) => one.name !== name);
  }

  /** G4: whoever was cleaned up after is not cleaned up a second time, but as an orphan, when a TTL has passed again. */
  asks(process: ModelProcess, op: string): void {
    if (process.status === 'live' || (op !== 'claim' && op !== 'listOwner')) return;
    this.#broken('the dead take nothing', `${process.name} asks to ${op}, and cannot prove that it lives`);
  }

  /** Has a call executed, and looks at what came of it. */
  async watch(call: Call, execute: () => Promise<void>): Promise<void> {
    const { rows, table, scenario } = this.#world;
    const before = tasksBefore(rows);
    await execute();
    const late = lateWriter(call, before, rows);
    if (late !== null) this.#broken('late writers', late);
    for (const task of rows.tasks) {
      this.#needs.set(task.id, { exclusive: task.exclusive, shared: task.shared });
      this.#checkState(task);
    }
    this.#checkHolds();
    this.#checkReservations(heldOfPaused(rows, table.state), 'paused');
    const { epoch, identity } = table.state;
    // Nobody goes by a table of another server: it is refused, and built anew.
    if (call.to !== 'table' || epoch?.status !== 'open' || epoch.identity !== identity) return;
    const dump = table.dumpState(epoch.number);
    if (dump === null) return;
    const unrepaired = scenario.faults?.['cut'] !== undefined;
    const [first] = brokenInvariants(dump, { unrepaired });
    if (first !== undefined) this.#broken('table', first);
  }

  /** Of what runs and has begun. */
  text(): string {
    const running = this.#handlers.map(({ task, entry, name }) => `${task}.${entry}@${name}`);
    return `${running.join()};${[...this.#begun].sort().join()}`;
  }

  /** G2: what runs has its hold, wherever the table is the one that was committed. */
  #checkHolds(): void {
    const { rows, table } = this.#world;
    const { epoch, identity, keyspaces } = table.state;
    if (epoch?.identity !== identity || epoch.number !== rows.epoch) return;
    for (const { name, task, entry } of this.#handlers) {
      const process = this.#world.processes.find((one) => one.name === name);
      const hold = keyspaces.get(epoch.number)?.holds.get(task);
      const owner = `${name}:${process?.incarnation}`;
      if (process?.status !== 'live' || (hold?.owner === owner && hold.entry === entry)) continue;
      const has = hold === undefined ? 'nobody has its hold' : `its hold is ${hold.owner ?? 'nobody'}'s`;
      this.#broken('held while it runs', `${name} runs ${task}, entry ${entry}, and ${has}`);
    }
  }

  #checkState({ id, state }: StoredTask): void {
    const before = this.#states.get(id) ?? 'waiting';
    this.#states.set(id, state);
    if (before === state || allowed[before]?.includes(state) === true) return;
    const what = final.has(before) ? 'a final state changed' : 'no such step';
    this.#broken('legal states', `${id} went from ${before} to ${state}: ${what}`);
  }

  #checkOrder(id: string): void {
    const { rows, scenario } = this.#world;
    const mine = taskOf(rows, id);
    if (mine === undefined || scenario.unordered === true || rows.paused) return;
    for (const other of rows.tasks) {
      const neverRan = ![...this.#begun].some((key) => key.startsWith(`${other.id}.`));
      if (!isServed(rows, other)) continue;
      if (other.place < mine.place && other.state === 'waiting' && neverRan && this.#conflict(id, other.id)) {
        this.#broken('order', `${id} begins although ${other.id} came before it and still waits`);
      }
    }
  }

  #conflict(one: string, other: string): boolean {
    const [a, b] = [this.#needs.get(one), this.#needs.get(other)];
    return a !== undefined && b !== undefined && one !== other && conflict(a, b);
  }

  #broken(property: string, what: string): void {
    this.violation ??= `${property}: ${what}`;
  }

  neverRests(): void {
    this.#broken('everything ends', 'it does not come to rest');
  }

  #checkReservations(tasks: readonly string[], why: string): void {
    const [first] = tasks;
    if (first !== undefined) this.#broken('reserved for nothing', `${first} has a hold, and is ${why}`);
  }

  /**
   * In the end, with somebody alive: all tasks are final and nothing is left in the table. Without: nothing is reserved but
   * for those that wait for it, so that who else comes is blocked by nobody else.
   */
  atRest(): void {
    const { rows, table, scenario, processes } = this.#world;
    const owns = ({ kind }: ModelProcess): boolean => kind === 'worker' || kind === 'api';
    if (!processes.some((process) => owns(process) && process.status === 'live')) {
      const admits = processes.some(({ kind, status }) => kind === 'admitter' && status === 'live');
      if (admits) this.#checkReservations(reservedInVain(rows, table.state), 'over, or has another entry');
      return;
    }
    for (const task of rows.tasks) {
      if (task.requester !== null) this.#broken('nothing is left', `the row of ${task.id} stays`);
      if (scenario.staysPaused === true && task.state === 'waiting') continue;
      if (task.state === 'waiting' && !isServed(rows, task)) continue;
      if (isUnsettled(task)) this.#broken('everything ends', `${task.id} stays ${task.state}`);
    }
    const dump = rows.epoch === null ? null : table.dumpState(rows.epoch);
    const lost = table.state.identity !== table.state.epoch?.identity;
    if (dump === null || lost) return;
    for (const { task } of dump.holds) this.#broken('nothing is left', `${task} has a hold in the end`);
    const [first] = brokenInvariants(dump);
    if (first !== undefined) this.#broken('nothing is left', first);
    for (const owner of dump.owners) {
      const incarnation = owner.slice(owner.lastIndexOf(':') + 1);
      const process = this.#world.processes.find((one) => one.incarnation === incarnation);
      if (process?.status !== 'live') this.#broken('nothing is left', `${owner} is dead and still listed`);
    }
  }
}

function conflict(a: Resources, b: Resources): boolean {
  const all = (one: Resources): string[] => [...one.exclusive, ...one.shared];
  return (
    a.exclusive.some((name) => all(b).includes(name)) || b.exclusive.some((name) => all(a).includes(name))
  );
}
