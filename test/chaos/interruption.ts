/** The first signal ends the run in order; whoever sends a second one does not want to wait. */
export function interruption(): AbortSignal {
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort());
  return ending.signal;
}
