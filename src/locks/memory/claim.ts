import { ownerText } from '../../owner.js';
import { maxHoldsPerCall } from '../chunks.js';
import type { ClaimAnswer, ClaimedHold, ClaimRequest } from '../lock-table.js';
import type { Call } from './call.js';
import { changeHold } from './hold-writes.js';
import { LaneHeads } from './lane-heads.js';
import { addToRegistry, drawFence } from './owner-writes.js';
import { workOffMarks } from './promote.js';
import { makeUnready, unlistLane } from './ready-holds.js';
import type { Keyspace, ReadyHold } from './table-state.js';

/** A claim in calls of at most 100 holds each. */
export function claimInCalls(request: ClaimRequest, newCall: () => Call): ClaimAnswer | 'unlisted' {
  const owner = ownerText(request.owner);
  const holds: ClaimedHold[] = [];
  for (;;) {
    const call = newCall();
    const limit = Math.min(request.limit - holds.length, maxHoldsPerCall);
    const some = claim(call, owner, request.lanes, limit);
    if (some === 'unlisted') return some;
    holds.push(...some);
    const isLast = some.length < limit || holds.length >= request.limit;
    if (isLast) return { holds, ...lanesSince(call.space, request.lanesVersion) };
  }
}

/** One call: up to `limit` ready holds of these lanes, the best first. */
export function claim(
  call: Call,
  owner: string,
  lanes: readonly string[],
  limit: number,
): ClaimedHold[] | 'unlisted' {
  const { space } = call;
  if (!space.owners.has(owner)) return 'unlisted';
  workOffMarks(call);
  for (const lane of lanes) if (space.lanes.has(lane) && !space.ready.has(lane)) unlistLane(call, lane);
  const heads = new LaneHeads(space.ready, lanes);
  const claimed: ClaimedHold[] = [];
  for (let times = 0; times < limit; times++) {
    const head = heads.first();
    if (head === undefined) break;
    const hold = claimOne(call, owner, head.ready);
    makeUnready(call, head.lane, head.ready);
    if (hold !== null) claimed.push(hold);
    heads.replaceFirst();
  }
  return claimed;
}

/** The lanes that have ready holds, unless they are those of the version that the caller knows. */
function lanesSince(
  space: Keyspace,
  knownVersion: string | null,
): { lanesVersion: string; lanes: string[] | null } {
  const lanesVersion = String(space.lanesVersion);
  return { lanesVersion, lanes: lanesVersion === knownVersion ? null : [...space.lanes] };
}

function claimOne(call: Call, owner: string, ready: ReadyHold): ClaimedHold | null {
  const hold = call.space.holds.get(ready.task);
  if (hold?.status !== 'granted') return null;
  const fence = drawFence(call);
  // G4: the registry before the owner shows in the hold.
  addToRegistry(call, owner, hold.task);
  changeHold(call, hold, { owner, fence, status: 'owned', ownedAt: call.now });
  return { task: hold.task, entry: hold.entry, fence };
}
