/** Between two steps that other processes can see: where one is killed or stops, others must be able to go on. For tests only. */
export const faultPoints = [
  // Building an epoch, starting, stopping.
  'epoch-drawn',
  'epoch-begun',
  'epoch-entered',
  'epoch-opened',
  'epoch-built',
  'registered',
  'listed',
  'unlisted',
  // Admission.
  'admission-entered',
  'admission-marked',
  'taken-out',
  // An attempt, from its claim to its end.
  'claimed-in-table',
  'claimed',
  'readmitted',
  'attempt-ended',
  'end-stored',
  'released',
  'retry-stored',
  'retry-released',
  'given-back',
  'given-back-and-moved',
  // A roll-back.
  'roll-back-due',
  'roll-back-stored',
  'roll-back-claimed',
  'roll-back-ended',
  'roll-back-end-stored',
  // What a process enters for itself.
  'own-hold-entered',
  'own-row-inserted',
  'lock-requested',
  'lock-row-deleted',
  // Cleaning up after another one, or after an earlier incarnation.
  'predecessor-reaped',
  'dead-reaped',
  'dead-tasks-settled',
  'dead-locks-deleted',
  'dead-hold-given-back',
  'dead-holds-settled',
  'dead-owner-clean',
  'dead-owner-unlisted',
] as const;

export type FaultPoint = (typeof faultPoints)[number];

const { HOLDFAST_TEST_KILL_AT: killedAt, HOLDFAST_TEST_FREEZE_AT: frozenAt } = process.env;

/** Kills this process, or stops it as a debugger does, where a test has chosen that point. */
export const faultPoint: (here: FaultPoint) => void =
  killedAt === undefined && frozenAt === undefined
    ? () => {}
    : (here) => {
        if (here === killedAt) process.kill(process.pid, 'SIGKILL');
        if (here === frozenAt) process.kill(process.pid, 'SIGSTOP');
      };
