import type { ProcessLife, Span } from './history.js';
import type { Links } from './links.js';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { now } from './clock.js';

export interface MemberOptions {
  name: string;
  kind: ProcessLife['kind'];
  args: string[];
  env: Record<string, string>;
  logPath: string;
  links: Links;
  /** Called with each line of the standard output. */
  heard: (line: Record<string, unknown>) => void;
  began: (life: ProcessLife) => void;
}

const restartAfterMs = 300;

/** A process of the fleet under a name of its own: where one ends, the next is started. */
export class Member {
  readonly name: string;
  readonly links: Links;
  readonly #options: MemberOptions;
  #child: ChildProcessByStdio<Writable, Readable, null> | null = null;
  #life: ProcessLife | null = null;
  #downMs = restartAfterMs;
  #stopping = false;
  #exited: Promise<unknown> = Promise.resolve();
  #restarting: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();

  constructor(options: MemberOptions) {
    this.#options = options;
    this.name = options.name;
    this.links = options.links;
  }

  /** The one that runs now. */
  get life(): ProcessLife | null {
    return this.#life?.exitedAt === null ? this.#life : null;
  }

  start(): void {
    const { args, env, logPath, kind, heard, began } = this.#options;
    const log = openSync(logPath, 'a');
    const stdio: ['pipe', 'pipe', number] = ['pipe', 'pipe', log];
    const child = spawn(process.execPath, args, { env, stdio }) as ChildProcessByStdio<
      Writable,
      Readable,
      null
    >;
    closeSync(log);
    child.stdin.on('error', () => {});
    const life: ProcessLife = {
      ...{ name: this.name, kind, pid: child.pid ?? 0, incarnation: null, startedAt: now() },
      ...{ killedAt: null, exitedAt: null, exit: null, frozen: [], withoutPostgres: [] },
    };
    this.#child = child;
    this.#life = life;
    this.#exited = once(child, 'exit');
    child.once('exit', (status, name) => {
      life.exitedAt = now();
      life.exit = String(status ?? name);
      if (!this.#stopping) this.#restarting = this.#restart();
    });
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parsed(text);
      if (typeof line['incarnation'] === 'string') life.incarnation = line['incarnation'];
      heard(line);
    });
    began(life);
  }

  tell(line: object): void {
    if (this.#child?.stdin.writable === true) this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }

  /** SIGKILL; the next one starts after so long. Null where none runs. */
  kill(downMs: number): ProcessLife | null {
    const life = this.life;
    if (life === null) return null;
    this.#downMs = downMs;
    life.killedAt ??= now();
    this.#child?.kill('SIGKILL');
    return life;
  }

  /** Tells it to stop, as for a deploy; the next one starts after it. */
  replace(): void {
    if (this.#options.kind === 'worker') this.#child?.kill('SIGTERM');
    else this.#child?.stdin.end();
  }

  /** SIGSTOP for as long as `frozen` takes. */
  async freeze(frozen: () => Promise<void>): Promise<void> {
    const life = this.life;
    const child = this.#child;
    if (life === null || child === null) return;
    const span = open(life.frozen);
    child.kill('SIGSTOP');
    span.from = now();
    try {
      await frozen();
    } finally {
      span.to = now();
      child.kill('SIGCONT');
    }
  }

  /** Stops it in order and starts none after it. Resolves with its status or signal. */
  async stop(limitMs: number): Promise<string> {
    this.#stopping = true;
    this.#ending.abort();
    await this.#restarting;
    this.replace();
    const force = setTimeout(() => this.#child?.kill('SIGKILL'), limitMs);
    await this.#exited;
    clearTimeout(force);
    return this.#life?.exit ?? 'never started';
  }

  /** At once. */
  async abandon(): Promise<void> {
    this.#stopping = true;
    this.#ending.abort();
    this.#child?.kill('SIGKILL');
    await this.#restarting;
    if (this.#life?.exitedAt === null) await this.#exited;
  }

  async #restart(): Promise<void> {
    const downMs = this.#downMs;
    this.#downMs = restartAfterMs;
    await delay(downMs, undefined, { signal: this.#ending.signal }).catch(() => {});
    if (!this.#stopping) this.start();
  }
}

/** It goes on until somebody writes its end. */
export function open(spans: Span[]): Span {
  const span = { from: now(), to: Number.MAX_SAFE_INTEGER };
  spans.push(span);
  return span;
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}
