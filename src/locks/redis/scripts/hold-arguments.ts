import type { EnteringHold } from '../../lock-table.js';

/** The seven arguments of a hold that comes in. No name has a NUL, so it separates names. */
export function holdArguments(hold: EnteringHold): (string | number)[] {
  const { task, entry, lane, priority, place, exclusive, shared } = hold;
  return [task, entry, lane, priority, decimal(place), exclusive.join('\0'), shared.join('\0')];
}

/** The names of a list as `holdArguments` packs it. */
export function unpackNames(packed: string): string[] {
  return packed === '' ? [] : packed.split('\0');
}

/** Without leading zeros: scripts compare decimal strings by their length first. */
export function decimal(text: string): string {
  return BigInt(text).toString();
}
