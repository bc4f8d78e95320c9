const signals = ['SIGINT', 'SIGTERM'] as const;

/** npm and timeout(1) pass a signal on that has come already. */
const sameSignalMs = 2_000;

/** The first signal ends the run in order; whoever sends one again a while later does not want to wait. */
export function interruption(): AbortSignal {
  const ending = new AbortController();
  const interrupted = (): void => {
    if (ending.signal.aborted) return;
    ending.abort();
    setTimeout(() => {
      for (const name of signals) process.off(name, interrupted);
    }, sameSignalMs).unref();
  };
  for (const name of signals) process.on(name, interrupted);
  return ending.signal;
}
