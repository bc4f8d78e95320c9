import type { Socket } from 'node:net';
import { resetSocket } from './reset-socket.js';

/** One direction of a proxied connection: what `from` says goes to `to`, in order, late, or not for now. */
export class Direction {
  latencyMs: number;
  readonly #held: (() => void)[] = [];
  #silent: boolean;
  readonly #underWay: (() => void)[] = [];
  #lastArrival = 0;

  constructor(from: Socket, to: Socket, latencyMs: number, silent: boolean) {
    this.latencyMs = latencyMs;
    this.#silent = silent;
    from.on('data', (chunk: Buffer) => this.#later(() => void to.write(chunk)));
    from.once('end', () => this.#later(() => to.end()));
    from.on('error', () => this.#later(() => resetSocket(to)));
    from.once('close', () => this.#later(() => to.destroySoon()));
    to.on('error', () => {});
  }

  silence(silent: boolean): void {
    this.#silent = silent;
    if (silent) return;
    for (const deliver of this.#held.splice(0)) this.#schedule(deliver);
  }

  #later(deliver: () => void): void {
    if (this.#silent) this.#held.push(deliver);
    else this.#schedule(deliver);
  }

  // A chunk never overtakes an earlier one, also when the latency shrinks between them: whichever timer rings delivers
  // the oldest, as timers that are due at about the same moment do not ring in order.
  #schedule(deliver: () => void): void {
    const now = performance.now();
    const arrival = Math.max(this.#lastArrival, now + this.latencyMs);
    this.#lastArrival = arrival;
    this.#underWay.push(deliver);
    if (arrival <= now) this.#arrive();
    else setTimeout(() => this.#arrive(), arrival - now);
  }

  #arrive(): void {
    const deliver = this.#underWay.shift();
    if (deliver === undefined) return;
    if (this.#silent) this.#held.push(deliver);
    else deliver();
  }
}
