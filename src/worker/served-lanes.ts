import type { SemVer } from 'semver';
import coerce from 'semver/functions/coerce.js';
import parse from 'semver/functions/parse.js';
import satisfies from 'semver/functions/satisfies.js';
import type { Lane } from '../lane.js';
import { parseLane } from '../lane.js';

/** What one worker can take: its queues, the names of its definitions, the versions that it offers. */
export interface Offer {
  queues: string[];
  names: string[];
  versions: Record<string, string>;
  /** The incarnation, where it asks for ad-hoc locks. */
  requester?: string | null;
}

/** Whether a worker with this offer may run tasks of the lane. */
export function servesLane(offer: Offer, lane: Lane): boolean {
  if (lane.requester !== undefined) return lane.requester === offer.requester;
  return (
    offer.queues.includes(lane.queue) &&
    offer.names.includes(lane.name) &&
    Object.entries(lane.needs).every(([library, range]) => meets(offer.versions[library], range))
  );
}

/** One such as `6` or `v6.1` counts as 6.0.0 or 6.1.0. null for what is no version. */
export function readVersion(text: string): SemVer | null {
  return parse(text) ?? coerce(text);
}

/** A range that semver cannot read is never met. */
function meets(offered: string | undefined, range: string): boolean {
  if (offered === undefined) return false;
  const version = readVersion(offered);
  return version !== null && satisfies(version, range, { includePrerelease: true });
}

/** Of these lane texts, those that at least one of the offers serves, in the order given. */
export function servedLanes(lanes: readonly string[], offers: readonly Offer[]): string[] {
  return lanes.filter((text) => {
    const lane = parseLane(text);
    return offers.some((offer) => servesLane(offer, lane));
  });
}
