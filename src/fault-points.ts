/** Between two steps that other processes can see: where one is killed, others must be able to go on. For tests only. */
export const faultPoints = [
  // Building an epoch, starting, stopping.
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

const killedAt = process.env['HOLDFAST_TEST_KILL_AT'];

/** Kills this process where a test has chosen that point. */
export const faultPoint: (here: FaultPoint) => void =
  killedAt === undefined
    ? () => {}
    : (here) => {
        if (here === killedAt) process.kill(process.pid, 'SIGKILL');
      };
