import { vi } from 'vitest';
import type { Ended } from './run-holdfast.js';
import { createProgram } from '../../src/cli/program.js';
import { runProgram } from '../../src/cli/run-program.js';
import { documentOf } from './run-holdfast.js';

let current: Promise<unknown> = Promise.resolve();

/**
 * Runs a command to its end in this process, one at a time: for tests of what a command does and prints. A process of
 * its own takes longer to start than most commands to run.
 */
export function holdfastHere(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const ended = current.then(() => run(args, env));
  current = ended.catch(() => {});
  return ended;
}

/** Runs it with --json and returns the one document that it must print. */
export async function holdfastJsonHere(args: string[], env: Record<string, string> = {}): Promise<unknown> {
  return documentOf(args, await holdfastHere([...args, '--json'], env));
}

async function run(args: string[], env: Record<string, string>): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) => {
    const write = (text: string, done?: () => void): boolean => {
      written[name] += text;
      done?.();
      return true;
    };
    return vi.spyOn(process[name], 'write').mockImplementation(write as typeof process.stdout.write);
  });
  const before = process.env;
  process.env = { ...withoutHoldfast(before), ...env };
  try {
    const status = await runProgram(createProgram(), ['node', 'holdfast', ...args]);
    return { status, ...written };
  } finally {
    process.env = before;
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
  }
}

function withoutHoldfast(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HOLDFAST_')));
}
