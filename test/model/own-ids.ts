import { drawId } from './virtual-time.js';

/** In place of `uuid`: what a process calls what it makes is a function of what it was told, like all it does. */
export function v7(): string {
  return drawId();
}
