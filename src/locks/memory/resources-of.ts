import type { Mode } from '../../resources.js';

interface ResourceLists {
  exclusive: readonly string[];
  shared: readonly string[];
}

/** Visits the resources of a hold: the exclusive ones first, each list in its order. */
export function eachResource(hold: ResourceLists, visit: (resource: string, mode: Mode) => void): void {
  for (const resource of hold.exclusive) visit(resource, 'exclusive');
  for (const resource of hold.shared) visit(resource, 'shared');
}

/** The first resource, in that order, that `matches`. */
export function findResource(
  hold: ResourceLists,
  matches: (resource: string, mode: Mode) => boolean,
): string | undefined {
  return (
    hold.exclusive.find((resource) => matches(resource, 'exclusive')) ??
    hold.shared.find((resource) => matches(resource, 'shared'))
  );
}
