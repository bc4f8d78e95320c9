import { describe } from 'vitest';
import { openPgliteStore, openPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import { adHocLocksConformance } from './ad-hoc-locks.conformance.js';
import { adHocLocksProperty } from './ad-hoc-locks.property.js';
import { admissionConformance } from './admission.conformance.js';
import { auditingConformance } from './auditing.conformance.js';
import { attemptsConformance } from './attempts.conformance.js';
import { cancelingConformance } from './canceling.conformance.js';
import { claimsConformance } from './claims.conformance.js';
import { constraintsConformance } from './constraints.conformance.js';
import { databaseConformance } from './database.conformance.js';
import { dispatchConformance } from './dispatch.conformance.js';
import { epochsConformance } from './epochs.conformance.js';
import { listingConformance } from './listing.conformance.js';
import { lostWorkersConformance } from './lost-workers.conformance.js';
import { pausingConformance } from './pausing.conformance.js';
import { poisonConformance } from './poison.conformance.js';
import { settlingConformance } from './settling.conformance.js';
import { readingConformance } from './reading.conformance.js';
import { retryingConformance } from './retrying.conformance.js';
import { rollingBackConformance } from './rolling-back.conformance.js';
import { timelinesConformance } from './timelines.conformance.js';
import { unclaimedRollbacksConformance } from './unclaimed-rollbacks.conformance.js';
import { stateMachineProperty } from './state-machine.property.js';
import { uniqueKeysConformance } from './unique-keys.conformance.js';
import { workersConformance } from './workers.conformance.js';

function storeConformance(open: () => Promise<OpenStore>): void {
  databaseConformance(open);
  readingConformance(open);
  dispatchConformance(open);
  listingConformance(open);
  epochsConformance(open);
  admissionConformance(open);
  claimsConformance(open);
  cancelingConformance(open);
  retryingConformance(open);
  poisonConformance(open);
  settlingConformance(open);
  attemptsConformance(open);
  adHocLocksConformance(open);
  uniqueKeysConformance(open);
  rollingBackConformance(open);
  unclaimedRollbacksConformance(open);
  pausingConformance(open);
  auditingConformance(open);
  workersConformance(open);
  lostWorkersConformance(open);
  timelinesConformance(open);
  constraintsConformance(open);
  stateMachineProperty(open);
  adHocLocksProperty(open);
}

describe('the store on PostgreSQL', () => storeConformance(() => openPostgresStore()));

describe('the store on PGlite', () => storeConformance(() => openPgliteStore()));
