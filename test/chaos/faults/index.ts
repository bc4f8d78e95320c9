import type { FaultKind } from './fault-kind.js';
import {
  cutPostgres,
  cutRedis,
  losePostgresReplies,
  loseRedisReplies,
  resetLinks,
  slowLinks,
} from './cutting.js';
import { freezeProcess, freezeRedis } from './freezing.js';
import { killApi, killMost, killWorker, replaceWorker } from './killing.js';
import { cancelStorm, pauseQueue } from './operating.js';
import {
  deleteWorkerRow,
  failOverPostgres,
  freezePostgres,
  restartPostgresAtOnce,
  restartPostgresInOrder,
  terminateBackends,
} from './postgres.js';
import {
  busyScript,
  failOver,
  flushAll,
  flushScripts,
  outOfMemory,
  reload,
  restartRedis,
  restartRedisEmpty,
} from './redis.js';

export const faultKinds: FaultKind[] = [
  ...[killWorker, killApi, killMost, replaceWorker],
  ...[freezeProcess, freezeRedis],
  ...[cutPostgres, losePostgresReplies, cutRedis, loseRedisReplies, resetLinks, slowLinks],
  ...[flushAll, flushScripts, reload, outOfMemory, busyScript, restartRedisEmpty, restartRedis, failOver],
  ...[freezePostgres, restartPostgresInOrder, restartPostgresAtOnce, terminateBackends, deleteWorkerRow],
  ...[failOverPostgres],
  ...[cancelStorm, pauseQueue],
];
