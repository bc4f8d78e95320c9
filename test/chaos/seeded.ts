import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** All that is random in a run comes from such streams: xoroshiro128+, one for each purpose. */
export interface Seeded {
  /** An integer from 0 on, less than `limit`. */
  below(limit: number): number;
  /** Both ends included. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  /** By weights, which need not add up to anything. */
  weighted<T>(from: readonly (readonly [weight: number, T])[]): T;
  chance(percent: number): boolean;
  /** So many different ones, or all. */
  some<T>(from: readonly T[], count: number): T[];
}

export function seeded(seed: number, purpose: string): Seeded {
  const generator = xoroshiro128plus(mixed(seed, purpose));
  const below = (limit: number): number => uniformInt(generator, 0, limit - 1);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    pick,
    weighted: (from) => {
      let rest = below(from.reduce((sum, [weight]) => sum + weight, 0));
      for (const [weight, one] of from) if ((rest -= weight) < 0) return one;
      return pick(from)[1];
    },
    chance: (percent) => below(100) < percent,
    some: (from, count) => {
      const left = [...from];
      const chosen = [];
      while (chosen.length < count && left.length > 0) chosen.push(...left.splice(below(left.length), 1));
      return chosen;
    },
  };
}

/** FNV-1a, so that neither two seeds nor two purposes of one have anything in common. */
function mixed(seed: number, purpose: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${seed} ${purpose}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
}
