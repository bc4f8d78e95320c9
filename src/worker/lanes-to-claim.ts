import type { Offer } from './served-lanes.js';
import { laneText, parseLane } from '../lane.js';
import { servesLane } from './served-lanes.js';

/** Few enough to be named in every claim without waiting for the table to name them. */
const alwaysNamed = 16;

/** The most wake-up lists that one worker listens to. */
const maxListened = 500;

/** What a definition says about its lane. */
export interface LaneSource {
  name: string;
  needs: Record<string, string>;
}

/**
 * The lanes that one worker claims from: those that the table last named and that it can serve. Tasks may be
 * dispatched with other needs than their definition has, so the table can name lanes that nobody foresaw.
 */
export class LanesToClaim {
  readonly #offer: Offer;
  readonly #own: string[];
  readonly #seen = new Set<string>();
  #named: string[] = [];
  #version: { epoch: string; lanesVersion: string } | null = null;

  constructor(offer: Offer, definitions: readonly LaneSource[]) {
    this.#offer = offer;
    const lanes = definitions.flatMap(({ name, needs }) =>
      offer.queues.map((queue) => ({ queue, name, needs })),
    );
    this.#own = lanes.filter((lane) => servesLane(offer, lane)).map(laneText);
  }

  /** What to ask for, with the version of the table's answer that this rests on. */
  request(epoch: string): { lanes: string[]; lanesVersion: string | null } {
    if (this.#version?.epoch !== epoch) {
      this.#version = null;
      this.#named = [];
    }
    const own = this.#own.length <= alwaysNamed ? this.#own : [];
    return {
      lanes: [...new Set([...this.#named, ...own])],
      lanesVersion: this.#version?.lanesVersion ?? null,
    };
  }

  /** Takes in an answer. Tells whether it names a lane to claim from that was not among those asked for. */
  answered(
    epoch: string,
    asked: readonly string[],
    answer: { lanesVersion: string; lanes: string[] | null },
  ): boolean {
    this.#version = { epoch, lanesVersion: answer.lanesVersion };
    if (answer.lanes === null) return false;
    this.#named = answer.lanes.filter((lane) => this.#serves(lane));
    return this.#named.some((lane) => !asked.includes(lane));
  }

  /** Whose wake-ups to wait for: those of its own definitions, and all that were seen. */
  toListenTo(): string[] {
    return [...new Set([...this.#own, ...this.#seen])].slice(0, maxListened);
  }

  #serves(lane: string): boolean {
    if (this.#seen.has(lane)) return true;
    if (!servesLane(this.#offer, parseLane(lane))) return false;
    if (this.#seen.size < maxListened) this.#seen.add(lane);
    return true;
  }
}
