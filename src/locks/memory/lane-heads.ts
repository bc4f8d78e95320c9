import { compareBytes } from './bytes.js';
import type { SortedList } from './sorted-list.js';
import { compareReady, type ReadyHold } from './table-state.js';

interface LaneHead {
  lane: string;
  ready: ReadyHold;
}

/** The first ready hold of each lane, the best one on top: a binary heap, built in O(lanes). */
export class LaneHeads {
  readonly #ready: Map<string, SortedList<ReadyHold>>;
  readonly #heap: LaneHead[] = [];

  constructor(ready: Map<string, SortedList<ReadyHold>>, lanes: readonly string[]) {
    this.#ready = ready;
    for (const lane of new Set(lanes)) {
      const first = ready.get(lane)?.first();
      if (first !== undefined) this.#heap.push({ lane, ready: first });
    }
    for (let index = (this.#heap.length >>> 1) - 1; index >= 0; index--) this.#sink(index);
  }

  first(): LaneHead | undefined {
    return this.#heap[0];
  }

  /** To be called once the first has left its lane: the next of that lane takes part instead. */
  replaceFirst(): void {
    const heap = this.#heap;
    const lane = heap[0]?.lane;
    if (lane === undefined) return;
    const next = this.#ready.get(lane)?.first();
    const last = heap.at(-1) as LaneHead;
    if (next !== undefined) heap[0] = { lane, ready: next };
    else {
      heap.pop();
      if (heap.length > 0) heap[0] = last;
    }
    this.#sink(0);
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let index = from; ;) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < heap.length && compareHeads(heap[child] as LaneHead, heap[least] as LaneHead) < 0) {
          least = child;
        }
      }
      if (least === index) return;
      [heap[index], heap[least]] = [heap[least] as LaneHead, heap[index] as LaneHead];
      index = least;
    }
  }
}

function compareHeads(a: LaneHead, b: LaneHead): number {
  return compareReady(a.ready, b.ready) || compareBytes(a.lane, b.lane);
}
