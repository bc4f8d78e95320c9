import { exactText } from './digest.js';
import type {
  CalledHandler,
  Effect,
  LocalProcess,
  SentCall,
  SetTimer,
  Status,
  Told,
} from './local-process.js';

/** What a process has come to by what it was told: what it waits for now, and what it did at last that others see. */
export interface Node {
  readonly parent: Node | null;
  readonly told: { status: Status; told: Told } | null;
  readonly status: Status;
  readonly beatsNoMore: boolean;
  readonly epoch: string | null;
  readonly isIdle: boolean;
  readonly calls: readonly SentCall[];
  readonly timers: readonly SetTimer[];
  readonly handlers: readonly CalledHandler[];
  readonly busyWith: ReadonlySet<string>;
  readonly programs: readonly string[];
  readonly effects: readonly Effect[];
  readonly next: Map<string, Node>;
}

/** So many are kept where they stand: most go on from where they came last. */
const mostKept = 600;

/**
 * One process as an automaton, learned as it is needed. What the real code does is a function of what it is told, in
 * order, to the last number of it; so each such story is run once, by itself, and its outcome serves for every state of
 * the fleet in which the process has heard the same. (The same division into what is local and what is shared as in
 * Guerraoui and Yabandeh, Model Checking a Networked System Without the Network, NSDI 2011.)
 */
export class Automaton {
  readonly #create: () => Promise<LocalProcess>;
  /** Those that stand at a node, the longest unused first. */
  readonly #standing = new Map<Node, LocalProcess>();
  readonly #idle = new Map<string, Node>();
  #root: Node | null = null;

  constructor(create: () => LocalProcess, program: (process: LocalProcess) => unknown) {
    this.#create = async () => {
      const process = create();
      await process.start(program);
      return process;
    };
  }

  async root(): Promise<Node> {
    if (this.#root !== null) return this.#root;
    const process = await this.#create();
    return (this.#root = this.#stand(process, null, null));
  }

  /** What it comes to when it is told this next. */
  async next(node: Node, status: Status, told: Told): Promise<Node> {
    const key = `${status}${keyOf(told)}`;
    const known = node.next.get(key);
    if (known !== undefined) return known;
    const process = await this.#at(node);
    await process.take(status, told);
    const next = this.#stand(process, node, { status, told });
    node.next.set(key, next);
    return next;
  }

  /**
   * Who is idle knows nothing but the epoch, so that it does not matter how it came there: the first that stood so stands
   * for all that wait for the same.
   */
  idleLike(node: Node): Node {
    const key = exactText([
      ...[node.epoch, node.status, node.beatsNoMore],
      ...[node.calls.map(({ to, op, args }) => [to, op, args]), node.timers.map(({ ms }) => ms)],
    ]);
    const known = this.#idle.get(key);
    if (known !== undefined) return known;
    this.#idle.set(key, node);
    return node;
  }

  async #at(node: Node): Promise<LocalProcess> {
    const standing = this.#standing.get(node);
    if (standing !== undefined) {
      this.#standing.delete(node);
      return standing;
    }
    const story: NonNullable<Node['told']>[] = [];
    for (let at: Node | null = node; at?.told != null; at = at.parent) story.push(at.told);
    const process = await this.#create();
    for (const { status, told } of story.reverse()) await process.take(status, told);
    return process;
  }

  #stand(process: LocalProcess, parent: Node | null, told: Node['told']): Node {
    const { status, beatsNoMore, epoch, isIdle, calls, timers, handlers, busyWith, programs, effects } =
      process;
    const node: Node = {
      ...{ parent, told, status, beatsNoMore, epoch, isIdle, effects, next: new Map() },
      calls: [...calls.values()].map(({ seen }) => seen),
      timers: [...timers.values()].map(({ id, ms }) => ({ id, ms })),
      handlers: [...handlers.values()].map(({ id, kind, task, entry, signal }) => ({
        ...{ id, kind, task, entry, aborted: signal.aborted },
      })),
      busyWith: new Set(busyWith),
      programs: [...programs.keys()],
    };
    this.#standing.set(node, process);
    const [oldest] = this.#standing.keys();
    if (this.#standing.size > mostKept && oldest !== undefined) this.#standing.delete(oldest);
    return node;
  }
}

function keyOf(told: Told): string {
  switch (told.what) {
    case 'answer':
      return `answer ${told.call}=${exactText(told.answer)}`;
    case 'ring':
      return `ring ${told.timer}`;
    case 'begin':
      return `begin ${told.program}`;
    case 'handler':
      return `handler ${told.handler} ${told.how}`;
    case 'fence':
    default:
      return 'fence';
  }
}
