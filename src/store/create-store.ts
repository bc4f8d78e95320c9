import type { Database } from './database.js';
import type { LostWorkers } from './lost-workers.js';
import type { Run } from './run.js';
import type { Store } from './store.js';
import { checkNamespace } from '../namespace.js';
import { admissionPass } from './admission-pass.js';
import { migrate, pendingMigrations } from './migrate.js';
import { admissionNeeded } from './queries/admission-needed.js';
import { auditTasks } from './queries/audit-tasks.js';
import { beat } from './queries/beat.js';
import { cancelTask } from './queries/cancel-task.js';
import { checkLockTable, claimLockTable } from './queries/claim-lock-table.js';
import { claimTasks } from './queries/claim-tasks.js';
import { discardTasks } from './queries/discard-tasks.js';
import { finishTasks } from './queries/finish-tasks.js';
import { taskReader } from './queries/get-task.js';
import { giveBackTasks } from './queries/give-back-tasks.js';
import { insertRunning } from './queries/insert-running.js';
import { insertTasks } from './queries/insert-tasks.js';
import { listTasks } from './queries/list-tasks.js';
import { listWorkers } from './queries/list-workers.js';
import { longestTtlMs } from './queries/longest-ttl.js';
import { observeWorkers } from './queries/observe-workers.js';
import { pauseQueue, resumeQueue } from './queries/pause-queue.js';
import { pausedQueues } from './queries/paused-queues.js';
import { readNamespace } from './queries/read-namespace.js';
import { readmitWithResources } from './queries/readmit-with-resources.js';
import { reapWorker } from './queries/reap-worker.js';
import { registerWorker } from './queries/register-worker.js';
import { removeWorker } from './queries/remove-worker.js';
import { requestLock } from './queries/request-lock.js';
import { resourcesInUse } from './queries/resources-in-use.js';
import { retryPage } from './queries/retry-page.js';
import { retryTask } from './queries/retry-task.js';
import { rollbacksAmong } from './queries/rollbacks-among.js';
import { runningOf } from './queries/running-of.js';
import { sayStopped } from './queries/say-stopped.js';
import { servingWorkers } from './queries/serving-workers.js';
import { settleLostHolds } from './queries/settle-lost-holds.js';
import { settleLostLocks } from './queries/settle-lost-locks.js';
import { settleLostTasks } from './queries/settle-lost-tasks.js';
import { settledAmong } from './queries/settled-among.js';
import { voidInserts } from './queries/void-inserts.js';
import { waitEdges } from './queries/wait-edges.js';
import { workersAmong } from './queries/workers-among.js';
import { workersNamed } from './queries/workers-named.js';
import { writePolicies } from './queries/write-policies.js';
import { writeProgress } from './queries/write-progress.js';
import { rebuild } from './rebuild.js';
import { runOn } from './run.js';

/** The store of one namespace in a database. Its schema is there after `migrate`. */
export function createStore(database: Database, namespace: string): Store {
  checkNamespace(namespace);
  const run = runOn(database, namespace);
  return {
    namespace,

    migrate: () => migrate(database, namespace),
    pendingMigrations: () => pendingMigrations(database, namespace),

    checkLockTable: (table) => checkLockTable(run, table),
    claimLockTable: (table) => claimLockTable(run, table),
    readNamespace: () => readNamespace(run),
    rebuild: (build) => rebuild(database, namespace, build),

    insertTasks: (tasks, { queryable, notify = false } = {}) =>
      insertTasks(queryable === undefined ? run : runOn(queryable, namespace), tasks, notify),
    getTask: taskReader(run),
    listTasks: (filter) => listTasks(run, filter),
    cancelTask: (id) => cancelTask(run, id),
    retryTask: (id) => retryTask(run, id),
    retryPage: (page) => retryPage(run, page),
    waitEdges: (ids) => waitEdges(run, ids),
    settledAmong: (ids) => settledAmong(run, ids),
    resourcesInUse: (page) => resourcesInUse(run, page),

    admissionNeeded: (epoch) => admissionNeeded(run, epoch),
    admissionPass: (pass) => admissionPass(database, namespace, pass),

    pauseQueue: (queue) => pauseQueue(run, queue),
    resumeQueue: (queue) => resumeQueue(run, queue),
    pausedQueues: (page) => pausedQueues(run, page),

    claimTasks: (claim) => claimTasks(run, claim),
    finishTasks: (worker, finishes) => finishTasks(run, worker, finishes),
    giveBackTasks: (worker, tasks) => giveBackTasks(run, worker, tasks),
    rollbacksAmong: (ids) => rollbacksAmong(run, ids),
    readmitWithResources: (worker, task) => readmitWithResources(run, worker, task),
    writePolicies: (worker, policies) => writePolicies(run, worker, policies),
    writeProgress: (worker, progress) => writeProgress(run, worker, progress),
    runningOf: (worker) => runningOf(run, worker),

    insertRunning: (insert) => insertRunning(run, insert),
    requestLock: (request) => requestLock(run, request),
    voidInserts: (worker, number) => voidInserts(run, worker, number),
    discardTasks: (worker, ids) => discardTasks(run, worker, ids),

    registerWorker: (worker) => registerWorker(run, worker),
    beat: (incarnation) => beat(run, incarnation),
    sayStopped: (incarnation) => sayStopped(run, incarnation),
    listWorkers: (page) => listWorkers(run, page),
    servingWorkers: () => servingWorkers(run),
    removeWorker: (incarnation) => removeWorker(run, incarnation),
    ...lostWorkers(run),
    ...auditTasks(run),
  };
}

function lostWorkers(run: Run): LostWorkers {
  return {
    observeWorkers: () => observeWorkers(run),
    workersNamed: (name) => workersNamed(run, name),
    longestTtlMs: () => longestTtlMs(run),
    workersAmong: (incarnations) => workersAmong(run, incarnations),
    reapWorker: (incarnation, counter) => reapWorker(run, incarnation, counter),
    settleLostTasks: (worker, tasks) => settleLostTasks(run, worker, tasks),
    settleLostLocks: (requester) => settleLostLocks(run, requester),
    settleLostHolds: (worker, holds) => settleLostHolds(run, worker, holds),
  };
}
