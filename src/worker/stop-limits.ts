import type { StopPatience } from './handler-stop.js';

/**
 * What a stop does when its grace is over, in milliseconds from then on. Whoever supervises a worker gives it 5 s more than
 * the grace: what is left of them is for the process to end, and for its supervisor to clean up.
 */
export const afterGraceMs = {
  /** SIGTERM for children that have not heeded their signals. */
  terminate: 1_000,
  kill: 2_000,
  /** It is told of handlers in this process that have not heeded theirs. */
  unstoppable: 3_000,
  /** What cannot be written by then is left to be swept. */
  written: 3_800,
  /** Nothing more is waited for. */
  ended: 4_100,
} as const;

/** For what is still to be written where handlers have taken longer than that, in milliseconds. */
export const leastWritingMs = 1_000;

export const stopPatience: StopPatience = { terminateMs: afterGraceMs.terminate, killMs: afterGraceMs.kill };
