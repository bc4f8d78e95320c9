import type { Server, Socket } from 'node:net';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { HeartbeatState } from './heartbeat-state.js';
import { makeFolderOf, removeFolderOf } from './watchdog-address.js';
import { deadlineLine } from './watchdog-messages.js';

/**
 * Tells the watchdogs of children how long this worker is alive for certain. It lives in the heartbeat thread,
 * so that a busy main loop cannot keep a deadline from them. A watchdog kills its child when its connection
 * closes, so whatever ends this process, or closes this server, ends the children.
 */
export class WatchdogServer {
  readonly #address: string;
  readonly #state: HeartbeatState;
  readonly #onError: (error: unknown) => void;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer((socket) => this.#greet(socket));

  constructor(address: string, state: HeartbeatState, onError: (error: unknown) => void) {
    this.#address = address;
    this.#onError = onError;
    this.#state = state;
  }

  async listen(): Promise<void> {
    makeFolderOf(this.#address);
    this.#server.listen({ path: this.#address });
    await once(this.#server, 'listening');
    // No descriptor is left for a connection, say: that child is not armed, and the others are told on.
    this.#server.on('error', this.#onError);
  }

  /** To be called after each confirmed beat. */
  announceDeadline(): void {
    for (const socket of this.#sockets) this.#tell(socket);
  }

  /** At once, and idempotent. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    removeFolderOf(this.#address);
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // A child that dies resets its connection; 'close' follows and tells enough.
    socket.on('error', () => {});
    socket.resume();
    this.#tell(socket);
  }

  #tell(socket: Socket): void {
    // Asked anew each time: a deadline that passed in a freeze must not be followed by another one.
    if (this.#state.mayAct()) socket.write(deadlineLine(this.#state.deadline));
  }
}
