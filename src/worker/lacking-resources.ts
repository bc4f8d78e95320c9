import type { Resources } from '../resources.js';

/**
 * Whether a hold lacks something that a definition needs. A resource held exclusively serves as a shared one.
 */
export function lacksResources(held: Resources, needed: Resources): boolean {
  const exclusive = new Set(held.exclusive);
  const any = new Set([...held.exclusive, ...held.shared]);
  return (
    needed.exclusive.some((name) => !exclusive.has(name)) || needed.shared.some((name) => !any.has(name))
  );
}
