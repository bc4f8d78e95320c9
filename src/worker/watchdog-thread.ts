import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { Moment } from './deadline.js';
import { checkAtDeadline, isPast } from './deadline.js';
import { signalGroup } from './process-group.js';
import { deadlineReader } from './watchdog-messages.js';

// Runs in a child, in a thread of its own, so that nothing a handler does to the child's main thread stops it.
// It needs nobody's help: its own clock tells when the parent is frozen, and its socket when the parent is gone.

const { address } = workerData as { address: string };
const checkEveryMs = 100;
let deadline: Moment | null = null;
let armed = false;

process.on('uncaughtException', killOwnGroup);
const socket = connect({ path: address });
socket.on('data', deadlineReader(take));
socket.on('close', killOwnGroup);
// 'close' follows.
socket.on('error', () => {});
checkAtDeadline(() => deadline, check, checkEveryMs);

function take(next: Moment | null): void {
  deadline = next;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a MessagePort, not a window
  if (!armed) parentPort?.postMessage('armed');
  armed = true;
}

function check(): void {
  // Where this process alone was frozen, the next deadline has arrived meanwhile: it is read before the
  // judgement, within this turn of the event loop.
  if (isPassed()) setImmediate(() => isPassed() && killOwnGroup());
}

function isPassed(): boolean {
  return deadline !== null && isPast(deadline);
}

function killOwnGroup(): void {
  signalGroup(process.pid, 'SIGKILL');
  // Only where this process leads no group.
  process.kill(process.pid, 'SIGKILL');
}
