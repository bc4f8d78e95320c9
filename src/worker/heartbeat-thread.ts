import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Moment } from './deadline.js';
import { checkAtDeadline, checkIntervalMs, fencingMarginMs, momentAfter } from './deadline.js';
import { HeartbeatLoop } from './heartbeat-loop.js';
import type { FromHeartbeatThread, HeartbeatThreadData, ToHeartbeatThread } from './heartbeat-messages.js';
import { plainError } from './heartbeat-messages.js';
import type { PostgresBeater } from './heartbeat-postgres.js';
import { HeartbeatState } from './heartbeat-state.js';
import { AskingBeater } from './heartbeat-asking.js';
import { WatchdogServer } from './watchdog-server.js';

const { memory, ttlMs, watchdogAddress, killWhenFenced, postgres } = workerData as HeartbeatThreadData;
const state = new HeartbeatState(memory);
const server = new WatchdogServer(watchdogAddress, state, onError);
const asking = new AskingBeater(() => tell({ type: 'beat-asked' }));
const connected = postgres === null ? null : await postgresBeater(postgres);
/** For the main thread to say why and exit by itself; shorter than every margin (see fencingMarginMs). */
const fencedGraceMs = 200;
const connectLimitMs = 10_000;
/** Less than the other thread waits for the end of this one. */
const lastWordLimitMs = 1_500;
const lastWordPauseMs = 50;
let ended = false;
let loop: HeartbeatLoop | null = null;
const deadlineCheck = checkAtDeadline(() => state.deadline, endIfEnded, checkIntervalMs(ttlMs));

parentPort?.on('message', (message: ToHeartbeatThread) => {
  if (message.type === 'begin') begin(message.incarnation);
  else if (message.type === 'beat-answered') asking.answer(message.outcome);
  else if (message.type === 'beat-failed') asking.fail(new Error(message.error.message));
  else if (message.type === 'stop') end('stopped');
  else endIfEnded();
});
await server.listen();
await connected?.connect(connectLimitMs);
tell({ type: 'prepared' });

function begin(incarnation: string): void {
  connected?.beatFor(incarnation);
  loop = new HeartbeatLoop({
    beater: connected ?? asking,
    intervalMs: ttlMs / 3,
    onBeaten,
    onReaped: () => end('reaped'),
    onError,
  });
  loop.start();
}

function onBeaten(sentAt: Moment): void {
  const deadline = postgres === null ? null : momentAfter(sentAt, ttlMs - fencingMarginMs(ttlMs));
  if (!state.confirm(deadline)) return endIfEnded();
  server.announceDeadline();
  tell({ type: 'beaten' });
}

/** The worker's thread, or the deadline, may have ended it meanwhile. */
function endIfEnded(): void {
  if (ended || state.mayAct() || state.status === 'starting') return;
  ended = true;
  // Kills the children first.
  server.close();
  if (killWhenFenced && state.fenced) setTimeout(() => process.kill(process.pid, 'SIGKILL'), fencedGraceMs);
  // With its connection: a beat under way that arrives now would put off the moment at which others take over.
  loop?.stop();
  deadlineCheck.stop();
  tell({ type: 'ended' });
  void sayStopped().finally(() => {
    connected?.close();
    parentPort?.close();
  });
}

/**
 * The last word of a worker whose time has passed, or whose database is another one now: what it ran has not crashed it.
 * The row of a reaped one takes none.
 */
async function sayStopped(): Promise<void> {
  if (connected === null || !['late', 'reaped'].includes(state.status)) return;
  const until = performance.now() + lastWordLimitMs;
  while (performance.now() < until) {
    try {
      return await connected.sayStopped();
    } catch (error) {
      onError(error);
      await delay(lastWordPauseMs);
    }
  }
}

function end(status: 'reaped' | 'stopped'): void {
  state.end(status);
  endIfEnded();
}

async function postgresBeater(
  settings: NonNullable<HeartbeatThreadData['postgres']>,
): Promise<PostgresBeater> {
  const { PostgresBeater } = await import('./heartbeat-postgres.js');
  // A lost reply leaves the time for another try or two; a short TTL must still allow for connecting.
  const limitMs = Math.max(ttlMs / 4, Math.min(1_000, ttlMs / 2));
  return new PostgresBeater({ ...settings, limitMs, onError });
}

function onError(error: unknown): void {
  tell({ type: 'failed', error: plainError(error) });
}

function tell(message: FromHeartbeatThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a MessagePort, not a window
  parentPort?.postMessage(message);
}
