import { maxHoldsPerCall } from '../chunks.js';
import type { ClaimAnswer, ClaimedHold } from '../lock-table.js';

/** Claims in calls of at most 100 holds each, until one took fewer than it was asked for. */
export async function claimInCalls(
  limit: number,
  claim: (limit: number) => Promise<ClaimAnswer | 'unlisted'>,
): Promise<ClaimAnswer | 'unlisted'> {
  const holds: ClaimedHold[] = [];
  for (;;) {
    const asked = Math.min(limit - holds.length, maxHoldsPerCall);
    const answer = await claim(asked);
    if (answer === 'unlisted') return answer;
    holds.push(...answer.holds);
    if (answer.holds.length < asked || holds.length >= limit) return { ...answer, holds };
  }
}
