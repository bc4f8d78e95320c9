import { InvalidTask } from './errors.js';

/** Lock modes: `exclusive` admits one task, `shared` any number of shared ones. */
export type Mode = 'exclusive' | 'shared';

export interface Resources {
  exclusive: string[];
  shared: string[];
}

export const maxResourcesPerTask = 1_000;
export const maxNameBytes = 1_024;

/**
 * The resources of one task in their normal form: no duplicates, sorted by code unit, and a name given both
 * ways counts as exclusive only. Throws InvalidTask where a name cannot be stored without loss.
 */
export function normalizeResources(given: Partial<Resources>): Resources {
  const exclusive = new Set(listOf(given.exclusive, 'exclusive'));
  const shared = new Set(listOf(given.shared, 'shared').filter((name) => !exclusive.has(name)));
  const count = exclusive.size + shared.size;
  if (count > maxResourcesPerTask) {
    throw new InvalidTask(`A task names at most ${maxResourcesPerTask} resources; this one names ${count}.`);
  }
  return { exclusive: [...exclusive].sort(), shared: [...shared].sort() };
}

function listOf(names: unknown, what: Mode): string[] {
  if (names === undefined) return [];
  if (!Array.isArray(names)) throw new InvalidTask(`"${what}" must be a list of resource names.`);
  for (const name of names) checkName(name, `a resource in "${what}"`);
  return names as string[];
}

/** Throws InvalidTask unless `name` is a non-empty, well-formed string of at most 1 KiB without NUL. */
export function checkName(name: unknown, what: string): asserts name is string {
  if (typeof name !== 'string') throw new InvalidTask(`${what} must be a string; got ${typeof name}.`);
  if (name === '') throw new InvalidTask(`${what} must not be empty.`);
  if (name.includes('\0')) throw new InvalidTask(`${what} must not contain NUL: PostgreSQL cannot store it.`);
  if (!isWellFormed(name)) throw new InvalidTask(`${what} must not contain a lone surrogate.`);
  const bytes = Buffer.byteLength(name);
  if (bytes > maxNameBytes) {
    throw new InvalidTask(`${what} is ${bytes} bytes long; the limit is ${maxNameBytes}.`);
  }
}

function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
