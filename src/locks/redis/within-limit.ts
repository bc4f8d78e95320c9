/** No answer came in time, on a connection that was there. */
export class Silence extends Error {
  constructor(limitMs: number) {
    super(`no answer came within ${limitMs} ms`);
  }
}

const slices = 4;

/**
 * Rejects with Silence where `answer` takes longer. The limit passes in slices, between which the event loop reads
 * what has come: in a process that was frozen or busy the answer may have been there for long.
 */
export function withinLimit<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout;
  const silence = new Promise<never>((_, reject) => {
    let passed = 0;
    const pass = (): void => {
      passed += 1;
      if (passed > slices) reject(new Silence(limitMs));
      else timer = setTimeout(pass, limitMs / slices);
    };
    pass();
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}
