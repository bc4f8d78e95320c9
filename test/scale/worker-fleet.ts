import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('many-workers.mjs', import.meta.url));

export interface WorkerFleet {
  /** Resolves once every worker claims. */
  ready: Promise<void>;
  /** Stops every worker in order; resolves with the exit codes. */
  stop(): Promise<(number | null)[]>;
  /** SIGKILLs every process at once. */
  kill(): Promise<void>;
}

/** Many workers on few processes: each still registers, beats and connects by itself. */
export function startWorkerFleet(
  env: Record<string, string>,
  processes: number,
  workersEach: number,
): WorkerFleet {
  const children = Array.from({ length: processes }, (_, number) => {
    const child = spawn(process.execPath, [script, String(workersEach), `fleet-${number}`], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    return { child, exited, ready: once(createInterface({ input: child.stdout }), 'line') };
  });
  return {
    ready: Promise.all(children.map(({ ready }) => ready)).then(() => undefined),
    stop: () =>
      Promise.all(
        children.map(async ({ child, exited }) => {
          child.stdin.end();
          return (await exited)[0];
        }),
      ),
    kill: async () => {
      for (const { child } of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ exited }) => exited));
    },
  };
}
