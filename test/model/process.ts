import type { Automaton, Node } from './automaton.js';
import type { Answer, CalledHandler, SentCall, SetTimer, Status } from './local-process.js';
import { digest } from './digest.js';

/** A call of a store or the table, from when it was sent. */
export interface Call extends SentCall {
  process: ModelProcess;
  /** The caller has given up on it, or is dead: it may be executed all the same, or never. */
  orphaned: boolean;
  answer: Answer | null;
}

export interface Timer extends SetTimer {
  process: ModelProcess;
  /** What the stores were like when it was set: see mayRing. */
  setIn: number;
  setAfter: number;
  /** Set after a fault: it need not wait for a change. */
  afterFault: boolean;
}

/** One process of the fleet, as it is in one state: `history` is what it was told, in order, as far as it matters. */
export class ModelProcess {
  readonly name: string;
  readonly kind: 'worker' | 'api' | 'admitter' | 'sweeper' | 'client';
  /** Of a worker. */
  readonly incarnation: string;
  readonly automaton: Automaton;
  node: Node;
  status: Status = 'live';
  history = '';
  calls: Call[] = [];
  timers: Timer[] = [];
  handlers: readonly CalledHandler[] = [];
  /** Whether something that it was told last was a fault. */
  faulted = false;
  beats = 0;
  /** In which version of the stores it was woken last, while it could not prove that it lives. */
  wokenIn = -1;
  /** How often it was told something that is no timer. */
  deliveries = 0;
  readonly begunIn: Map<string, number> = new Map();

  constructor(from: Pick<ModelProcess, 'name' | 'kind' | 'incarnation' | 'automaton' | 'node'>) {
    this.name = from.name;
    this.kind = from.kind;
    this.incarnation = from.incarnation;
    this.automaton = from.automaton;
    this.node = from.node;
  }

  copy(): ModelProcess {
    const copy = new ModelProcess(this);
    copy.status = this.status;
    copy.history = this.history;
    copy.calls = this.calls.map((call) => ({ ...call, process: copy }));
    copy.timers = this.timers.map((timer) => ({ ...timer, process: copy }));
    copy.handlers = this.handlers;
    copy.faulted = this.faulted;
    copy.beats = this.beats;
    copy.wokenIn = this.wokenIn;
    copy.deliveries = this.deliveries;
    for (const [name, version] of this.begunIn) copy.begunIn.set(name, version);
    return copy;
  }

  /** Whether it does anything when it is told something. */
  get runs(): boolean {
    return this.status === 'live' || this.status === 'woken' || this.status === 'fenced';
  }

  get isDead(): boolean {
    return this.status !== 'live' || this.node.beatsNoMore;
  }

  /**
   * Whether it knows nothing but the epoch, so that it does not matter any more how it came there: nothing is under way,
   * and nothing is still to be done.
   */
  get isIdle(): boolean {
    if (this.kind === 'sweeper' || this.kind === 'client') return false;
    return this.node.isIdle && this.beats === 0 && this.begunIn.size === 0;
  }

  told(what: string): void {
    this.history = digest(`${this.history}|${what}`);
  }
}
