import type { World } from './world.js';

export function may(world: World, fault: string): boolean {
  return (world.faultsLeft.get(fault) ?? 0) > 0;
}

export function spend(world: World, fault: string): void {
  world.faultsLeft.set(fault, (world.faultsLeft.get(fault) ?? 0) - 1);
}
