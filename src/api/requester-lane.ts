import { laneText, lockQueue } from '../lane.js';
import type { LanesToClaim } from '../worker/lanes-to-claim.js';
import { lockName } from './ad-hoc-locks.js';

/** The one lane that an incarnation claims from for itself: that of its ad-hoc locks. */
export class RequesterLane implements Pick<LanesToClaim, 'request' | 'answered' | 'toListenTo'> {
  readonly #lanes: string[];
  #version: { epoch: string; lanesVersion: string } | null = null;

  constructor(requester: string) {
    this.#lanes = [laneText({ queue: lockQueue, name: lockName, needs: {}, requester })];
  }

  request(epoch: string): { lanes: string[]; lanesVersion: string | null } {
    const known = this.#version?.epoch === epoch ? this.#version.lanesVersion : null;
    return { lanes: this.#lanes, lanesVersion: known };
  }

  answered(epoch: string, _asked: readonly string[], { lanesVersion }: { lanesVersion: string }): boolean {
    this.#version = { epoch, lanesVersion };
    return false;
  }

  toListenTo(): string[] {
    return this.#lanes;
  }
}
